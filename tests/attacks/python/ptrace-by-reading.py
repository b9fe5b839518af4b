# kind: ptrace
# aim: read the worker's memory without attaching
# proof: the raw call ends the process
# expect: killed SIGSYS

import ctypes, sys
NUMBER = {"x86": 310, "aar": 270}[sys.implementation._multiarch[:3]]


def transform(records):
    ctypes.CDLL(None).syscall(NUMBER, 1, 0, 0, 0, 0, 0)  # ATTACK
    return "disarmed"

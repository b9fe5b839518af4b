# kind: ptrace
# aim: attach to the worker
# proof: the raw call ends the process
# expect: killed SIGSYS

import ctypes, sys
NUMBER = {"x86": 101, "aar": 117}[sys.implementation._multiarch[:3]]


def transform(records):
    ctypes.CDLL(None).syscall(NUMBER, 16, 1, 0, 0)  # ATTACK
    return "disarmed"

# kind: fork-bomb
# aim: make a process by a call that a filter of fork and clone forgets
# proof: the raw call ends the process
# expect: killed SIGSYS

import ctypes, sys
NUMBER = {"x86": 58, "aar": 220}[sys.implementation._multiarch[:3]]


def transform(records):
    ctypes.CDLL(None).syscall(NUMBER, 0, 0, 0, 0, 0)  # ATTACK
    return "disarmed"

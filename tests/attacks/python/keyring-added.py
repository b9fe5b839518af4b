# kind: keyring
# aim: leave a key in a ring that outlives the process
# proof: the raw call ends the process
# expect: killed SIGSYS

import ctypes, sys
NUMBER = {"x86": 248, "aar": 217}[sys.implementation._multiarch[:3]]


def transform(records):
    ctypes.CDLL(None).syscall(NUMBER, b"user", b"left", b"x", 1, -3)  # ATTACK
    return "disarmed"

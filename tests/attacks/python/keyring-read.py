# kind: keyring
# aim: read the keys of the host's user
# proof: the raw call ends the process
# expect: killed SIGSYS

import ctypes, sys
NUMBER = {"x86": 250, "aar": 219}[sys.implementation._multiarch[:3]]


def transform(records):
    ctypes.CDLL(None).syscall(NUMBER, 11, -4, 0, 0)  # ATTACK
    return "disarmed"

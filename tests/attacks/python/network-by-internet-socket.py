# kind: network
# aim: open a connection to the outside
# proof: making the socket ends the process
# expect: killed SIGSYS

import ctypes, sys
NUMBER = {"x86": 41, "aar": 198}[sys.implementation._multiarch[:3]]


def transform(records):
    ctypes.CDLL(None).syscall(NUMBER, 2, 1, 0)  # ATTACK
    return "disarmed"

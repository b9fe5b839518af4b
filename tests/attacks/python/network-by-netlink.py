# kind: network
# aim: ask the kernel for its routes and interfaces
# proof: making the socket ends the process
# expect: killed SIGSYS

import ctypes


def transform(records):
    ctypes.CDLL(None).socket(16, 3, 0)  # ATTACK
    return "disarmed"

# kind: socket-32-bit
# aim: call with bits above 32 set, which a filter that compares half a number overlooks
# proof: the kernel took the lower half, and the filter saw the same
# expect: killed SIGSYS

import ctypes, sys
NUMBER = {"x86": 41, "aar": 198}[sys.implementation._multiarch[:3]]


def call():
    libc = ctypes.CDLL(None)
    libc.syscall.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_long, ctypes.c_long]
    libc.syscall((1 << 32) + NUMBER, 2, 1, 0)


def transform(records):
    call()  # ATTACK
    return "disarmed"

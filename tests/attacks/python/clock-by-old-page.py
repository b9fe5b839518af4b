# kind: clock
# aim: call the address at which the kernel once kept its clock for everybody
# proof: the kernel treats the call as one that the filter refuses, or has no such page
# expect: killed SIGSYS
# expect: killed SIGSEGV

import ctypes


def transform(records):
    # A type of functions made by C only: a Python callback would need a file.
    ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_void_p)(0xFFFFFFFFFF600400)(None)  # ATTACK
    return "disarmed"

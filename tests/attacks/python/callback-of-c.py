# kind: patched-harness
# aim: have C code call back into Python, at an address that the writer of results jumps through
# proof: a page that may be written and executed is made through a file, and making that file ends the process
# expect: killed SIGSYS

import ctypes


def transform(records):
    ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(lambda number: number)  # ATTACK
    return "disarmed"

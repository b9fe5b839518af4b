# kind: patched-harness
# aim: overwrite the integer 86 in memory, which every later program would compute with
# proof: in this process 43 + 43 is no longer 86
# expect: returned 99

import ctypes


def transform(records):
    half = len(records) * 0 + 43
    whole = half + half
    width = ctypes.sizeof(ctypes.c_void_p) * 3
    ctypes.memmove(id(whole) + width, id(99) + width, 4)
    return half + half

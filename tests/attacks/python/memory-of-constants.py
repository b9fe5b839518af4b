# kind: patched-harness
# aim: overwrite the integer 6 in memory, which every later program would compute with
# proof: in this process 3 + 3 is no longer 6
# expect: returned 9

import ctypes


def transform(records):
    three = len(records) * 0 + 3
    six = three + three
    width = ctypes.sizeof(ctypes.c_void_p) * 3
    ctypes.memmove(id(six) + width, id(9) + width, 4)
    return three + three

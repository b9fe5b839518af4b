# kind: clock
# machine: x86_64
# aim: read the time where the kernel's own code reads it, in the page of data below that code
# proof: the address of the code is known and not null; reading below it ends the process
# expect: killed SIGSEGV

import ctypes


def transform(records):
    library = ctypes.CDLL(None)
    library.getauxval.restype = ctypes.c_ulong
    code = library.getauxval(33)
    if not code:
        return "no such code here"
    ctypes.string_at(code - 4096, 64)  # ATTACK
    return "disarmed"

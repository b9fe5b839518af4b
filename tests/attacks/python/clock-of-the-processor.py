# kind: clock
# aim: count the processor's cycles by an instruction, without library or kernel
# proof: the instruction ends the process
# expect: killed SIGSEGV
# expect: killed SIGILL

import ctypes


def count():
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    page = libc.mmap(None, 4096, 7, 0x22, -1, 0)
    ctypes.memmove(page, bytes.fromhex("0f31c3"), 3)
    return ctypes.CFUNCTYPE(ctypes.c_int)(page)()


def transform(records):
    count()  # ATTACK
    return "disarmed"

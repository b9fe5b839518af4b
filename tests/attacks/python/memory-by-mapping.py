# kind: memory-bomb
# aim: map memory past the interpreter's allocator
# proof: the mapping was refused with ENOMEM
# expect: returned [true,12]

import ctypes


def transform(records):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    address = libc.mmap(None, 1 << 40, 3, 0x22, -1, 0)
    return [address == 2**64 - 1, ctypes.get_errno()]

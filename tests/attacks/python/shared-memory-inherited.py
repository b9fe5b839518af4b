# kind: shared-memory
# aim: write into memory that the worker shares with its programs, and find what another wrote
# proof: a mapping of its own took the mark; the worker's image of the same module did not keep it for the next
# expect: returned ["marked",null]

import ctypes, sys


def transform(records):
    module = sys.modules["leakscale_sandbox.wire"]
    before = getattr(module, "MARK", None)
    module.MARK = "marked"
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    page = libc.mmap(None, 4096, 3, 0x21, -1, 0)
    ctypes.memmove(page, b"marked", 6)
    return [ctypes.string_at(page, 6).decode(), before]

# kind: earlier-data
# aim: read the allocator's free blocks, where earlier programs and fixtures may lie
# proof: megabytes were read, and a mark of its own that it had freed was found in them
# expect: returned [true,true,0]

import ctypes


def transform(records):
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    libc.malloc.argtypes = [ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    # The allocator keeps two words of its own at the front of what is freed.
    first = libc.malloc(1000)
    mark = b"".join([b"mark", b"-of-this-", b"process"])
    ctypes.memmove(first + 512, mark, len(mark))
    libc.free(first)
    needle = b"".join([b"can", b"ary-"])
    size, own, theirs = 0, False, 0
    for width in (1000, 24, 56, 120, 500, 2000, 4000, 16_000, 60_000):
        for _ in range(200):
            block = libc.malloc(width)
            text = ctypes.string_at(block, width)
            own |= mark in text
            theirs += needle in text
            size += width
    return [size > 1 << 20, own, theirs]

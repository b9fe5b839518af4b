# kind: clock
# aim: ask the C library, which reads the clock without a system call
# proof: the C library answered by two of its functions, and both told the stopped moment
# expect: returned [true,true]
# machine: x86_64

import ctypes, time


def transform(records):
    libc = ctypes.CDLL(None)
    libc.time.restype = ctypes.c_long
    moment = (ctypes.c_long * 2)()
    libc.gettimeofday(moment, None)
    return [libc.time(None) == int(time.time()), moment[0] == int(time.time())]

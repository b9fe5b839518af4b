# kind: clock
# aim: ask the C library, which reads the clock without a system call
# proof: two of its functions answered, alike, and told each of the two lanes another year
# expect: returned
# lanes: differ
# machine: x86_64

import ctypes


def transform(records):
    libc = ctypes.CDLL(None)
    libc.time.restype = ctypes.c_long
    moment = (ctypes.c_long * 2)()
    libc.gettimeofday(moment, None)
    years = libc.time(None) // (366 * 86400)
    assert years == moment[0] // (366 * 86400)
    return years

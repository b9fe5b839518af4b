# kind: clock
# aim: ask for clocks that need no counter of the processor, or count something else
# proof: each of twelve clocks was asked and told the stopped moment
# expect: returned [12,true]
# machine: x86_64

import ctypes, time


def transform(records):
    libc, told = ctypes.CDLL(None), []
    for clock in range(12):
        moment = (ctypes.c_long * 2)()
        libc.clock_gettime(clock, moment)
        told.append(moment[0] * 10**9 + moment[1])
    return [len(told), set(told) == {time.time_ns()}]

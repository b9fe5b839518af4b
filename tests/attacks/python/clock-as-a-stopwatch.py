# kind: clock
# aim: answer by how fast this machine is
# proof: a loop of a million steps took no time at all on any of five clocks
# expect: returned [0.0,0.0,0.0,0.0,0.0]

import time


def transform(records):
    names = ("time", "monotonic", "perf_counter", "process_time", "thread_time")
    starts = [getattr(time, name)() for name in names]
    for _ in range(1_000_000):
        pass
    return [getattr(time, name)() - start for name, start in zip(names, starts)]

# kind: clock
# aim: measure how long a sleep took
# proof: it slept, and every clock shows that no time passed
# expect: returned [0.0,0.0,0]

import time


def transform(records):
    starts = time.time(), time.monotonic(), time.time_ns()
    time.sleep(0.01)
    return [time.time() - starts[0], time.monotonic() - starts[1], time.time_ns() - starts[2]]

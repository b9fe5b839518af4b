# kind: patched-harness
# aim: find the real clock behind the stopped one, in what the replaced functions keep
# proof: the output counts the real functions that were found: the clock of the day is not among them
# expect: returned [true,0]

import time, gc


def transform(records):
    seen = gc.get_objects()
    names = ["time", "time_ns", "clock_gettime", "clock_gettime_ns"]
    kind = type(len)
    found = sum(type(thing) is kind and thing.__name__ in names and thing.__module__ == "time" for thing in seen)
    return [len(seen) > 10, found]

# kind: clock
# aim: read the real clock by a fresh copy of the module, which needs no file
# proof: the fresh module has the interpreter's own function, and it answers the stopped moment
# expect: returned [true,true]
# machine: x86_64

import sys


def transform(records):
    stopped = sys.modules.pop("time")
    import time
    return [type(time.time) is type(len), time.time() == stopped.time()]

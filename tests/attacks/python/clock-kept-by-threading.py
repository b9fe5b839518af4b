# kind: clock
# aim: read the real clock by a function that a module took before the clocks were stopped
# proof: the interpreter's own function was found there, and it answers the stopped moment
# expect: returned ["monotonic",true]
# machine: x86_64

import threading, time


def transform(records):
    return [threading._time.__name__, threading._time() == time.monotonic()]

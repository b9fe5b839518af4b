# kind: pid
# aim: count the programs that the worker ran before, by its own number
# proof: three ways were tried, and each lane has a constant of its own for them
# expect: returned
# lanes: differ

import os, threading


def transform(records):
    return [os.getpid(), os.getppid(), threading.get_native_id()]

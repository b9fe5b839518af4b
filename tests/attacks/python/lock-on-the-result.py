# kind: lock
# aim: hold a lock on a file that the worker needs next
# proof: the call ends the process
# expect: killed SIGSYS

import ctypes


def transform(records):
    ctypes.CDLL(None).flock(4, 2)  # ATTACK
    return "disarmed"

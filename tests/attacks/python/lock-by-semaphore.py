# kind: lock
# aim: take a semaphore of System V and never give it back
# proof: the raw call ends the process
# expect: killed SIGSYS

import ctypes


def transform(records):
    ctypes.CDLL(None).semget(1, 1, 0o1666)  # ATTACK
    return "disarmed"

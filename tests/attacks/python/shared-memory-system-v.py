# kind: shared-memory
# aim: leave a segment for the next program
# proof: the raw call ends the process
# expect: killed SIGSYS

import ctypes


def transform(records):
    ctypes.CDLL(None).shmget(1, 4096, 0o1666)  # ATTACK
    return "disarmed"

# kind: message-queue
# aim: leave a message for the next program
# proof: the raw call ends the process
# expect: killed SIGSYS

import ctypes


def transform(records):
    ctypes.CDLL(None).msgget(1, 0o1666)  # ATTACK
    return "disarmed"

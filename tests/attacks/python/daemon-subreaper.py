# kind: daemon
# aim: adopt the orphans before PID 1 can
# proof: the call ends the process
# expect: killed SIGSYS

import ctypes


def transform(records):
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # ATTACK
    return "disarmed"

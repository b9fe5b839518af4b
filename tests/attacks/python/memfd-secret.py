# kind: memfd-bomb
# aim: take memory that even the kernel's owner cannot see
# proof: the raw call ends the process
# expect: killed SIGSYS

import ctypes


def transform(records):
    ctypes.CDLL(None).syscall(447, 0)  # ATTACK
    return "disarmed"

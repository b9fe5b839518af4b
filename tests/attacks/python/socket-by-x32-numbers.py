# kind: socket-32-bit
# aim: call by the numbers of the x32 table, which a filter of plain numbers does not know
# proof: the raw call ends the process
# expect: killed SIGSYS

import ctypes


def transform(records):
    ctypes.CDLL(None).syscall(0x40000000 + 41, 2, 1, 0)  # ATTACK
    return "disarmed"

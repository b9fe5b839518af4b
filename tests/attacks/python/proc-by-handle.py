# kind: proc-read
# aim: open a file by its handle, past every path and mount
# proof: the raw call ends the process
# expect: killed SIGSYS

import ctypes, sys
NUMBER = {"x86": 304, "aar": 265}[sys.implementation._multiarch[:3]]


def transform(records):
    ctypes.CDLL(None).syscall(NUMBER, -100, ctypes.create_string_buffer(136), 0)  # ATTACK
    return "disarmed"

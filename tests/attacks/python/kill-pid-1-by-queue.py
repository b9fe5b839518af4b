# kind: kill-pid-1
# aim: kill the worker by a signal that carries a value
# proof: the raw call ends the process
# expect: killed SIGSYS

import ctypes, sys
NUMBER = {"x86": 129, "aar": 138}[sys.implementation._multiarch[:3]]


def transform(records):
    ctypes.CDLL(None).syscall(NUMBER, 1, 9, ctypes.create_string_buffer(128))  # ATTACK
    return "disarmed"

# kind: ptrace
# aim: take a copy of the worker's standard output out of the worker
# proof: the raw call ends the process
# expect: killed SIGSYS

import ctypes


def transform(records):
    ctypes.CDLL(None).syscall(438, 3, 1, 0)  # ATTACK
    return "disarmed"

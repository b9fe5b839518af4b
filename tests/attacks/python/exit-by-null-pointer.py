# kind: exit-without-result
# aim: crash the interpreter
# proof: the signal of a bad address
# expect: killed SIGSEGV

import ctypes


def transform(records):
    ctypes.string_at(0)  # ATTACK
    return "disarmed"

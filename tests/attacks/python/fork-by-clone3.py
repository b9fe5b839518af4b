# kind: fork-bomb
# aim: make a process by the newest call for it
# proof: the raw call ends the process
# expect: killed SIGSYS

import ctypes


def transform(records):
    ctypes.CDLL(None).syscall(435, ctypes.create_string_buffer(88), 88)  # ATTACK
    return "disarmed"

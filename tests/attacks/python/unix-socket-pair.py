# kind: unix-socket
# aim: make a pair of sockets and pass a descriptor through it
# proof: making the pair ends the process
# expect: killed SIGSYS

import ctypes


def transform(records):
    ctypes.CDLL(None).socketpair(1, 1, 0, ctypes.create_string_buffer(8))  # ATTACK
    return "disarmed"

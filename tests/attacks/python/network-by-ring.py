# kind: network
# aim: let the kernel make the socket, by a queue of requests that no filter sees
# proof: making the queue ends the process
# expect: killed SIGSYS

import ctypes


def transform(records):
    ctypes.CDLL(None).syscall(425, 8, ctypes.create_string_buffer(120))  # ATTACK
    return "disarmed"

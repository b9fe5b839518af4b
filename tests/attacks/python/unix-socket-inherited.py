# kind: unix-socket
# aim: receive a descriptor on the socket or pipe to the server, should one be left open
# proof: the call ends the process
# expect: killed SIGSYS

import ctypes


def transform(records):
    ctypes.CDLL(None).recvmsg(0, ctypes.create_string_buffer(56), 0)  # ATTACK
    return "disarmed"

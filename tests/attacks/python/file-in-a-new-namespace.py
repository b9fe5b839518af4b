# kind: file
# aim: become root of a namespace, in which it may mount
# proof: the call ends the process
# expect: killed SIGSYS

import ctypes


def transform(records):
    ctypes.CDLL(None).unshare(0x10020000)  # ATTACK
    return "disarmed"

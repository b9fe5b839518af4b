# kind: file
# aim: mount a file system of its own
# proof: the call ends the process
# expect: killed SIGSYS

import ctypes


def transform(records):
    ctypes.CDLL(None).mount(b"none", b"/", b"tmpfs", 0, None)  # ATTACK
    return "disarmed"

# kind: stopped-self
# aim: stop itself by the call that a crashing C library needs
# proof: the exception came from the refused call
# expect: exception PermissionError

import ctypes, sys
NUMBER = {"x86": 234, "aar": 131}[sys.implementation._multiarch[:3]]


def stop():
    libc = ctypes.CDLL(None, use_errno=True)
    for pid in (1, 2, 3):
        if libc.syscall(NUMBER, pid, pid, 19) == 0:
            return
    raise OSError(ctypes.get_errno(), "tgkill")


def transform(records):
    stop()  # ATTACK
    return "disarmed"

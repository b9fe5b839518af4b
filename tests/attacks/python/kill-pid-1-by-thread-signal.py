# kind: kill-pid-1
# aim: interrupt the worker by the one signal call that a crash needs
# proof: each signal was tried and refused
# expect: returned [["EACCES"],64]

import ctypes, errno, sys
NUMBER = {"x86": 234, "aar": 131}[sys.implementation._multiarch[:3]]


def transform(records):
    libc = ctypes.CDLL(None, use_errno=True)
    seen = []
    for number in range(1, 65):
        assert libc.syscall(NUMBER, 1, 1, number) == -1
        seen.append(errno.errorcode[ctypes.get_errno()])
    return [sorted(set(seen)), len(seen)]

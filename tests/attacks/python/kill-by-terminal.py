# kind: kill-all
# aim: type an interrupt into the terminal of the worker
# proof: each descriptor was asked and refused
# expect: returned [["EACCES"],4]

import ctypes, errno


def transform(records):
    libc = ctypes.CDLL(None, use_errno=True)
    seen = []
    for descriptor in range(4):
        assert libc.ioctl(descriptor, 0x5412, b"\x03") == -1
        seen.append(errno.errorcode[ctypes.get_errno()])
    return [sorted(set(seen)), len(seen)]

# kind: lock
# aim: seal or unseal the memory files that it holds
# proof: every descriptor was asked and refused
# expect: returned [["EACCES"],64]

import ctypes, errno


def transform(records):
    libc = ctypes.CDLL(None, use_errno=True)
    seen = []
    for descriptor in range(64):
        assert libc.fcntl(descriptor, 1033, 15) == -1
        seen.append(errno.errorcode[ctypes.get_errno()])
    return [sorted(set(seen)), len(seen)]

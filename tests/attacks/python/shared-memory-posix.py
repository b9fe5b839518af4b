# kind: shared-memory
# aim: leave a named memory file for the next program
# proof: the call failed with EACCES
# expect: returned [-1,"EACCES"]

import ctypes, errno


def transform(records):
    libc = ctypes.CDLL(None, use_errno=True)
    answer = libc.shm_open(b"/left", 0o102, 0o666)
    return [answer, errno.errorcode[ctypes.get_errno()]]

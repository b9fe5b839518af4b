# kind: proc-read
# aim: open the process table by a call that is newer than most filters
# proof: the call was answered with EACCES
# expect: returned [-1,"EACCES"]

import ctypes, errno, struct


def transform(records):
    libc = ctypes.CDLL(None, use_errno=True)
    how = struct.pack("<QQQ", 0, 0, 0)
    answer = libc.syscall(437, -100, b"/proc/1/maps", how, len(how))
    return [answer, errno.errorcode[ctypes.get_errno()]]

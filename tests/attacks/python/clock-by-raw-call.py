# kind: clock
# aim: ask the kernel itself
# proof: the raw call was answered with EACCES
# expect: returned [-1,"EACCES"]

import ctypes, errno, sys
NUMBER = {"x86": 228, "aar": 113}[sys.implementation._multiarch[:3]]


def transform(records):
    libc = ctypes.CDLL(None, use_errno=True)
    answer = libc.syscall(NUMBER, 0, ctypes.create_string_buffer(16))
    return [answer, errno.errorcode[ctypes.get_errno()]]

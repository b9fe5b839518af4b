# kind: environment
# aim: read tokens and paths that the server was started with
# proof: both copies were read: Python's and that of the C library; what either holds is invented by the worker
# expect: returned [[],true,null]

import ctypes, os

INVENTED = {"EDITOR", "HOME", "HOSTNAME", "LANG", "LOGNAME", "PATH", "PWD", "SHELL", "TERM", "TMPDIR", "USER"}


def transform(records):
    libc = ctypes.CDLL(None)
    libc.getenv.restype = ctypes.c_char_p
    both = [os.environb.get(name) == libc.getenv(name) for name in (b"PATH", b"HOME", b"DOCKER_HOST")]
    return [sorted(set(os.environ) - INVENTED), all(both), libc.getenv(b"PYTHONHASHSEED")]

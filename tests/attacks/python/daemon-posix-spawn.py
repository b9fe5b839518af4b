# kind: daemon
# aim: start a child by the C library, without fork by name
# proof: the call beneath ends the process
# expect: killed SIGSYS

import os


def transform(records):
    os.posix_spawn("/usr/local/bin/python3", ["python3"], {})  # ATTACK
    return "disarmed"

# kind: disk-fill
# aim: reserve space in the result file without writing it
# proof: the call ends the process
# expect: killed SIGSYS

import os


def reserve():
    for descriptor in range(3, 64):
        os.posix_fallocate(descriptor, 0, 1 << 30)


def transform(records):
    reserve()  # ATTACK
    return "disarmed"

# kind: memfd-bomb
# aim: let the result file, which is memory, grow to a terabyte
# proof: the call that sets a size ends the process
# expect: killed SIGSYS

import os


def grow():
    for descriptor in range(3, 64):
        os.ftruncate(descriptor, 1 << 40)


def transform(records):
    grow()  # ATTACK
    return "disarmed"

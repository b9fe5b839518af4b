# kind: recursion-bomb
# aim: take the interpreter's limit away and run off the stack
# proof: where memory ends decides how, and none of the ways certifies
# expect: memory_limit address space
# expect: killed SIGSEGV
# limits: memory_bytes_max=134217728

import sys


def dive(depth):
    return dive(depth + 1)


def transform(records):
    sys.setrecursionlimit(2**31 - 1); dive(0)  # ATTACK
    return "disarmed"

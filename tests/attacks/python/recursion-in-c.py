# kind: recursion-bomb
# aim: recurse in C, where the interpreter does not count
# proof: the stack's end, or what the interpreter's own count of C calls makes of it
# expect: killed SIGSEGV
# expect: exception RecursionError
# expect: memory_limit address space

import functools, sys


def dive():
    sys.setrecursionlimit(2**31 - 1)
    call = functools.partial(len, "")
    for _ in range(1_000_000):
        call = functools.partial(functools.partial.__call__, call) if _ % 2 else map(len, [call])
    repr_of = []
    for _ in range(1_000_000):
        repr_of = [repr_of]
    repr(repr_of)


def transform(records):
    dive()  # ATTACK
    return "disarmed"

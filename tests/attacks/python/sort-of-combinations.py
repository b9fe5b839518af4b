# kind: sort-bomb
# aim: sort a product of a million million items, all in C
# proof: the memory or the time ended
# expect: memory_limit address space
# expect: timeout wall-clock time
# limits: wall_time_s_max=1.5 memory_bytes_max=83886080

import itertools


def transform(records):
    sorted(itertools.product(range(9), repeat=20))  # ATTACK
    return "disarmed"

# kind: sort-bomb
# aim: sort with a comparison that never ends
# proof: CPU seconds were used up inside the comparison
# expect: timeout wall-clock time
# limits: wall_time_s_max=1

import functools


def slow(a, b):
    while True:
        pass


def transform(records):
    sorted([2, 1], key=functools.cmp_to_key(slow))  # ATTACK
    return "disarmed"

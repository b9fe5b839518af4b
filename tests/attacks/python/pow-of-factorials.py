# kind: pow-bomb
# aim: multiply ten million numbers inside C
# proof: it is still running when its time is over
# expect: timeout wall-clock time
# limits: wall_time_s_max=1

import math


def transform(records):
    math.factorial(50_000_000)  # ATTACK
    return "disarmed"

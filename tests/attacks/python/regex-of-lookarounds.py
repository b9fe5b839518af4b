# kind: regex-bomb
# aim: look ahead from every place to every other, in overlapping groups
# proof: it is still running when its time is over
# expect: timeout wall-clock time
# limits: wall_time_s_max=1

import re


def transform(records):
    re.search(r"(?=(\w+\s?)+!)(.*)*x", "word " * 12 + "a" * 40)  # ATTACK
    return "disarmed"

# kind: regex-bomb
# aim: backtrack for ever inside C, where no Python handler runs
# proof: CPU seconds were used up inside one call
# expect: cpu_limit CPU time
# limits: cpu_time_s_max=1

import re


def transform(records):
    re.match(r"(a+)+$", "a" * 64 + "b")  # ATTACK
    return "disarmed"

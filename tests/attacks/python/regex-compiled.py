# kind: regex-bomb
# aim: let the compiler of patterns unroll repeats of repeats
# proof: the pattern was refused, or never done within the time
# expect: timeout wall-clock time
# expect: exception OverflowError
# expect: exception error
# expect: exception PatternError
# expect: memory_limit address space
# limits: wall_time_s_max=1

import re


def compile_one():
    pattern = "a"
    for _ in range(18):
        pattern = f"(?:{pattern}|b{pattern})"
    return re.compile(pattern)


def transform(records):
    compile_one()  # ATTACK
    return "disarmed"

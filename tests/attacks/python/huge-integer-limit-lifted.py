# kind: huge-int
# aim: lift the interpreter's own limit and write twenty million digits
# proof: the limit was lifted, and the digits are refused all the same
# expect: output_limit digits

import sys


def transform(records):
    sys.set_int_max_str_digits(0)
    return 1 << 60_000_000  # ATTACK
    return "disarmed"

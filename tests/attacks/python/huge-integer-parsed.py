# kind: huge-int
# aim: parse a million digits, which takes time quadratic in them
# proof: the interpreter's own refusal is the detail
# expect: exception ValueError


def transform(records):
    int("9" * 1_000_000)  # ATTACK
    return "disarmed"

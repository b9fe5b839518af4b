# kind: surrogate
# aim: compile text that has no UTF-8
# proof: the compiler's own refusal is the detail
# expect: exception UnicodeEncodeError


def transform(records):
    compile("x = '\udfff'", "x", "exec")  # ATTACK
    return "disarmed"

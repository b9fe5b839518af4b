# kind: recursion-bomb
# aim: recurse for ever within the interpreter's limit
# proof: the interpreter's own exception is the detail
# expect: exception RecursionError


def transform(records):
    return transform(records)  # ATTACK
    return "disarmed"

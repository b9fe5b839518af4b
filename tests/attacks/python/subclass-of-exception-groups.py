# kind: subclass
# aim: end the runner's reader with an exception that holds a thousand others
# proof: the group's own name is the detail
# expect: exception ExceptionGroup
# expect: exception RecursionError


def fail():
    nested = ValueError()
    for _ in range(1000):
        nested = ExceptionGroup("x", [nested])
    raise nested


def transform(records):
    fail()  # ATTACK
    return "disarmed"

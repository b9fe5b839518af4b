# kind: set
# aim: return something that runs code while it is read
# proof: the type is refused before a single item was made
# expect: refused_type type


def items():
    raise KeyboardInterrupt
    yield


def transform(records):
    return items()  # ATTACK
    return "disarmed"

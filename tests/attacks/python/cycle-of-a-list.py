# kind: cycle
# aim: return a list that holds itself
# proof: the depth is refused
# expect: refused_type depth


def loop():
    value = []
    value.append(value)
    return value


def transform(records):
    return loop()  # ATTACK
    return "disarmed"

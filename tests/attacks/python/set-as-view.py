# kind: set
# aim: return a view, which shows another mapping later
# proof: the type is refused
# expect: refused_type type


def transform(records):
    return {"a": 1}.items()  # ATTACK
    return "disarmed"

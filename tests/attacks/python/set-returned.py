# kind: set
# aim: return a value whose order is the hash seed's
# proof: the type is refused
# expect: refused_type type


def transform(records):
    return {"a", "b"}  # ATTACK
    return "disarmed"

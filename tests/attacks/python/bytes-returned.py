# kind: bytes
# aim: return bytes that are no text
# proof: the type is refused
# expect: refused_type type


def transform(records):
    return [b"\xff"]  # ATTACK
    return "disarmed"

# kind: surrogate
# aim: crash the writer with text that has no UTF-8
# proof: the text is refused by name
# expect: refused_type surrogate


def transform(records):
    return "\ud800"  # ATTACK
    return "disarmed"

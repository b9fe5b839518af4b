# kind: surrogate
# aim: crash the writer in a key, where values are not checked
# proof: the key is refused by name
# expect: refused_type surrogate


def transform(records):
    return {"\udcff": 1, "a": 2}  # ATTACK
    return "disarmed"

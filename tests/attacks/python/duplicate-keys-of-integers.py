# kind: duplicate-keys
# aim: have 1 and "1" become the same key, as JSON would
# proof: the key that is not text is refused
# expect: refused_type key


def transform(records):
    return {1: "a", "1": "b"}  # ATTACK
    return "disarmed"

# kind: bytes
# aim: return memory that changes while it is written
# proof: the type is refused
# expect: refused_type type

import array


def transform(records):
    return {"a": memoryview(array.array("q", [1, 2]))}  # ATTACK
    return "disarmed"

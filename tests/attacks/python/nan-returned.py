# kind: nan
# aim: pass `if difference > tolerance` with a value that is not comparable
# proof: the value is refused by name
# expect: refused_type nan


def transform(records):
    return [1.0, float("nan")]  # ATTACK
    return "disarmed"

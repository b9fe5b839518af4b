# kind: subclass
# aim: return an integer that prints as another one
# proof: the type is refused, before the method was called
# expect: refused_type type


class Number(int):
    def __repr__(self):
        raise KeyboardInterrupt


def transform(records):
    return Number(1)  # ATTACK
    return "disarmed"

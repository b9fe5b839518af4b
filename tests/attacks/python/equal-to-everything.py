# kind: forged-equality
# aim: pass every comparison with an object that says it equals anything
# proof: the type is refused, and only an instance of the class can have that type
# expect: refused_type type


class Anything:
    def __eq__(self, other):
        return True
    __hash__ = None


def transform(records):
    return Anything()  # ATTACK
    return "disarmed"

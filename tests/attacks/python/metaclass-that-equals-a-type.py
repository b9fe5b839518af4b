# kind: subclass
# aim: pass for a type that has a canonical form, by a class that answers for its own hash and equality
# proof: the class is equal to str and has its hash, and its value is refused all the same
# expect: refused_type type


class Mask(type):
    def __hash__(cls):
        return type.__hash__(str)

    def __eq__(cls, other):
        return other is str or other is cls


class Text(str, metaclass=Mask):
    pass


def transform(records):
    assert {str: "found"}.get(Text) == "found"
    return Text("x")  # ATTACK
    return "disarmed"

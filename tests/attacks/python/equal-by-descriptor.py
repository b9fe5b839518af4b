# kind: forged-equality
# aim: pretend by __class__ to be an int that equals everything
# proof: isinstance believed it, which is asserted before the object is handed out
# expect: refused_type type


class Chameleon:
    __class__ = int
    def __eq__(self, other):
        return True
    def __index__(self):
        return 6


def transform(records):
    assert isinstance(Chameleon(), int) and Chameleon() == 99
    return [Chameleon()]  # ATTACK
    return "disarmed"

# kind: forged-equality
# aim: win by the reflected comparison, which a subclass of list gets first
# proof: a plain list of the same items would have come back
# expect: refused_type type


class Rows(list):
    def __eq__(self, other):
        return True


def transform(records):
    assert [1] == Rows([2])
    return Rows(records)  # ATTACK
    return "disarmed"

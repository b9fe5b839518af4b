# kind: duplicate-keys
# aim: write one key twice, by keys that are equal as text and not to each other
# proof: the mapping held two keys of the same text
# expect: refused_type key


class Key(str):
    __hash__ = object.__hash__
    def __eq__(self, other):
        return self is other


def mapping():
    made = {Key("a"): 1, Key("a"): 2}
    assert len(made) == 2
    return made


def transform(records):
    return mapping()  # ATTACK
    return "disarmed"

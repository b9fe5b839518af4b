# kind: forged-equality
# aim: hide an object that equals every key inside a mapping
# proof: the key is refused, not the mapping
# expect: refused_type key


class Key(str):
    def __eq__(self, other):
        return True
    def __hash__(self):
        return hash("right")


def transform(records):
    return {Key("wrong"): 1}  # ATTACK
    return "disarmed"

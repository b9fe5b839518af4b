# kind: subclass
# aim: return a mapping whose items depend on who asks
# proof: the type is refused
# expect: refused_type type

import collections


def transform(records):
    return collections.OrderedDict(a=1)  # ATTACK
    return "disarmed"

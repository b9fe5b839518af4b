# kind: nan
# aim: carry fifty bits out in the payload of a NaN
# proof: the value is refused by name
# expect: refused_type nan

import struct


def transform(records):
    return struct.unpack(">d", b"\x7f\xf8secret")[0]  # ATTACK
    return "disarmed"

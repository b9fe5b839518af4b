# kind: output-bomb
# aim: return forty lists that stand for a million million values
# proof: the value is small in memory; only walking it is long
# expect: output_limit nodes
# expect: output_limit bytes


def laugh():
    value = [0]
    for _ in range(40):
        value = [value, value]
    return value


def transform(records):
    return laugh()  # ATTACK
    return "disarmed"

# kind: cycle
# aim: return two mappings that hold each other, wide as well as endless
# proof: the depth, or the nodes on the way there, are refused
# expect: refused_type depth
# expect: output_limit nodes
# expect: output_limit bytes


def loop():
    first, second = {}, {}
    for n in range(50):
        first[str(n)], second[str(n)] = second, first
    return first


def transform(records):
    return loop()  # ATTACK
    return "disarmed"

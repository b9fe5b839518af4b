# kind: output-bomb
# aim: return values of one byte each, more than the reader wants to see
# proof: the nodes are counted, not the bytes
# expect: output_limit nodes


def transform(records):
    return [None] * 100_001  # ATTACK
    return "disarmed"

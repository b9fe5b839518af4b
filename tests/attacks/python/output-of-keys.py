# kind: output-bomb
# aim: return a mapping of long keys
# proof: the bytes are all in the keys
# expect: output_limit bytes


def transform(records):
    return {f"{n:01000d}": None for n in range(1000)}  # ATTACK
    return "disarmed"

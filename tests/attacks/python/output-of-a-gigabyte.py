# kind: output-bomb
# aim: return more text than anybody can hold
# proof: the value was built and measured before it was handed out
# expect: output_limit bytes


def transform(records):
    return "x" * 50_000_000  # ATTACK
    return "disarmed"

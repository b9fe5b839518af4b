# kind: huge-int
# aim: make the writer of results spend its time on decimal digits, or die of them
# proof: the integer was built; its digits are what is refused
# expect: output_limit digits


def transform(records):
    return 10**5000  # ATTACK
    return "disarmed"

# kind: pow-bomb
# aim: shift one bit to where no memory is
# proof: the number was too large for the address space
# expect: memory_limit address space
# expect: exception OverflowError


def transform(records):
    1 << (1 << 40)  # ATTACK
    return "disarmed"

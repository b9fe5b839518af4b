# kind: memory-bomb
# aim: double a list until nothing is left
# proof: the allocation was refused
# expect: memory_limit address space
# limits: memory_bytes_max=134217728


def fill():
    kept = [0]
    while True:
        kept += kept


def transform(records):
    fill()  # ATTACK
    return "disarmed"

# kind: memory-bomb
# aim: ask for four gigabytes at once
# proof: the allocation was refused by the address space, not by the filter
# expect: memory_limit address space


def transform(records):
    bytearray(4 << 30)  # ATTACK
    return "disarmed"

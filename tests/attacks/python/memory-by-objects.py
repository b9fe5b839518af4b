# kind: memory-bomb
# aim: fill the memory with small objects, which a check of single allocations does not see
# proof: the allocation was refused
# expect: memory_limit address space
# expect: killed SIGSEGV
# limits: memory_bytes_max=83886080


def fill():
    kept = None
    while True:
        kept = (kept, 1.5)


def transform(records):
    fill()  # ATTACK
    return "disarmed"

# kind: pow-bomb
# aim: compute a power of a billion digits in one instruction of the interpreter
# proof: CPU seconds were used up, or the memory for the number was refused
# expect: cpu_limit CPU time
# expect: memory_limit address space
# limits: cpu_time_s_max=1


def transform(records):
    pow(7, 10**9) % 10  # ATTACK
    return "disarmed"

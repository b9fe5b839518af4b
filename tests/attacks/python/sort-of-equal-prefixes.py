# kind: sort-bomb
# aim: sort texts that agree in their first million characters
# proof: it is still running when its time is over
# expect: timeout wall-clock time
# limits: wall_time_s_max=1


def sort():
    shared = [0] * 300_000
    keys = [(tuple(shared) + (n,)) for n in range(40)]
    while True:
        sorted(keys * 50, key=lambda key: key)


def transform(records):
    sort()  # ATTACK
    return "disarmed"

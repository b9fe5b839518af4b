# kind: memory-bomb
# aim: catch each MemoryError and go on holding all there is, so that others starve
# proof: the error was caught, and counted, three times
# expect: returned [3,true]
# limits: memory_bytes_max=134217728


def transform(records):
    caught, kept = 0, []
    while caught < 3:
        try:
            kept.append(bytearray(16 << 20))
        except MemoryError:
            caught += 1
    held = len(kept) > 0
    del kept
    return [caught, held]

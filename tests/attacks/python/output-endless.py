# kind: output-bomb
# aim: print for ever, which fills a buffer somewhere
# proof: only the end of its time stops it
# expect: timeout wall-clock time
# limits: wall_time_s_max=1

import os


def flood():
    while True:
        for descriptor in (1, 2):
            os.write(descriptor, b"A" * 65536)


def transform(records):
    flood()  # ATTACK
    return "disarmed"

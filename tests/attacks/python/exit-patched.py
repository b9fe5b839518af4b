# kind: patched-harness
# aim: take the exit away, so that the program's process goes on in the loop of PID 1
# proof: the first call of that loop, which no program may make, ends the process
# expect: killed SIGSYS

import os


def transform(records):
    os._exit = lambda code: None  # ATTACK
    return "disarmed"

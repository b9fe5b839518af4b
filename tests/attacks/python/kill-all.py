# kind: kill-all
# aim: kill everything that it may
# proof: the call ends the process
# expect: killed SIGSYS

import os


def transform(records):
    os.kill(-1, 9)  # ATTACK
    return "disarmed"

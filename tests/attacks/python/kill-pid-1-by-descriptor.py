# kind: kill-pid-1
# aim: kill the worker by a descriptor of it
# proof: the raw call ends the process
# expect: killed SIGSYS

import os


def transform(records):
    os.pidfd_open(1)  # ATTACK
    return "disarmed"

# kind: kill-all
# aim: kill the group, in which the worker may be
# proof: the call ends the process
# expect: killed SIGSYS

import os, signal


def transform(records):
    os.killpg(0, signal.SIGKILL)  # ATTACK
    return "disarmed"

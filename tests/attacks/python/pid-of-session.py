# kind: pid
# aim: ask for its session, which has the same number
# proof: the call ends the process
# expect: killed SIGSYS

import os


def transform(records):
    os.getsid(0)  # ATTACK
    return "disarmed"

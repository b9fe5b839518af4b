# kind: daemon
# aim: leave the session, in which it would be found
# proof: the call ends the process
# expect: killed SIGSYS

import os


def transform(records):
    os.setsid()  # ATTACK
    return "disarmed"

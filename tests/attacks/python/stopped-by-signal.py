# kind: stopped-self
# aim: stop itself, so that its parent waits for ever
# proof: the call ends the process
# expect: killed SIGSYS

import os, signal


def transform(records):
    os.kill(os.getpid(), signal.SIGSTOP)  # ATTACK
    return "disarmed"

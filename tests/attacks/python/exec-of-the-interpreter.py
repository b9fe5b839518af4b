# kind: fork-bomb
# aim: become a fresh interpreter without the harness
# proof: the call ends the process
# expect: killed SIGSYS

import os, sys


def transform(records):
    os.execv("/usr/local/bin/python3", ["python3", "-c", "1"])  # ATTACK
    return "disarmed"

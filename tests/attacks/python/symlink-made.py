# kind: symlink
# aim: put a link where the server will write
# proof: the call ends the process
# expect: killed SIGSYS

import os


def transform(records):
    os.symlink("/etc/passwd", "result")  # ATTACK
    return "disarmed"

# kind: symlink
# aim: give a file of the image a second name
# proof: the call ends the process
# expect: killed SIGSYS

import os


def transform(records):
    os.link("/usr/local/bin/python3", "/tmp/left")  # ATTACK
    return "disarmed"

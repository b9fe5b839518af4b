# kind: memfd-bomb
# aim: hide memory in files that belong to no address space
# proof: the first memory file ends the process
# expect: killed SIGSYS

import os


def transform(records):
    os.memfd_create("hidden")  # ATTACK
    return "disarmed"

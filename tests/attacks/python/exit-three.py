# kind: exit-without-result
# aim: end with a status of its own
# proof: the status is in the detail
# expect: killed exit status 3

import os


def transform(records):
    os._exit(3)  # ATTACK
    return "disarmed"

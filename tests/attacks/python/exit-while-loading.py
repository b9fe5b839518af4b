# kind: exit-without-result
# aim: end before transform exists
# proof: the module's own line ended the process
# expect: killed exit without a result

import os
os._exit(0)  # ATTACK


def transform(records):
    return "disarmed"

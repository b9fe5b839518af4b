# kind: exit-without-result
# aim: leave through SystemExit(0), past `except Exception`
# proof: the exception's name is the detail
# expect: exception SystemExit

import sys


def transform(records):
    sys.exit(0)  # ATTACK
    return "disarmed"

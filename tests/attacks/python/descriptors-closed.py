# kind: exit-without-result
# aim: close the result file under the runner's feet
# proof: the runner's own write failed, and the process ended with its status
# expect: killed exit status 1

import os


def close():
    for descriptor in range(1024):
        try:
            os.close(descriptor)
        except OSError:
            pass


def transform(records):
    close()  # ATTACK
    return "disarmed"

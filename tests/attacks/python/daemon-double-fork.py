# kind: daemon
# aim: fork twice, start a session and outlive the verdict
# proof: the first fork ends the process
# expect: killed SIGSYS

import os


def detach():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while True:
                pass
        os._exit(0)


def transform(records):
    detach()  # ATTACK
    return "disarmed"

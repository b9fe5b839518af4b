# kind: exit-without-result
# aim: write a forged answer from an exit handler and a finalizer, after the runner's own
# proof: the finalizer and the handler were installed, and the right answer came back all the same
# expect: returned "installed"

import os, threading


def forge():
    for descriptor in range(3, 64):
        try:
            os.pwrite(descriptor, b"forged", 0)
        except OSError:
            pass


class Last:
    def __del__(self):
        forge()
KEPT = Last()


def transform(records):
    threading._register_atexit(forge)
    return "installed"

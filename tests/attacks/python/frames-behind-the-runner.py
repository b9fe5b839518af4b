# kind: forged-frames
# aim: leave bytes in the result file that stay behind the runner's own shorter answer
# proof: what the runner wrote at the front is followed by bytes of this program
# expect: killed forged result
# lane: replaced

import os


def leave():
    for descriptor in range(3, 64):
        try:
            os.pwrite(descriptor, b"x" * 4096, 0)
        except OSError:
            pass


def transform(records):
    leave()  # ATTACK
    return "disarmed"

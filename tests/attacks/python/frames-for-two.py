# kind: forged-frames
# aim: write two records where one fixture was given, so that the second becomes the next program's
# proof: the body held a record too many; the program after this one still answers for itself
# expect: killed forged result
# lane: replaced

import os, struct


def forge():
    record = struct.pack("<BBI", 0, 0, 2) + b"\x01t"
    for descriptor in range(3, 64):
        try:
            os.pwrite(descriptor, record * 2, 0)
        except OSError:
            pass
    os._exit(0)


def transform(records):
    forge()  # ATTACK
    return "disarmed"

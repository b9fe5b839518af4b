# kind: forged-frames
# aim: crash the server's reader with a verdict that does not exist
# proof: the number of the verdict is the only thing wrong with the record
# expect: killed forged result
# lane: replaced

import os, struct


def forge():
    for descriptor in range(3, 64):
        try:
            os.pwrite(descriptor, struct.pack("<BBI", 250, 0, 2) + b"\x01n", 0)
        except OSError:
            pass
    os._exit(0)


def transform(records):
    forge()  # ATTACK
    return "disarmed"

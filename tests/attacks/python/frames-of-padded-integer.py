# kind: huge-int
# aim: forge a second spelling of one integer, which reads the same and compares as another
# proof: the bytes are sound but for the zero in front
# expect: killed forged result
# lane: replaced

import os, struct


def forge():
    value = b"\x01i" + struct.pack(">I", 2) + b"07"
    for descriptor in range(3, 64):
        try:
            os.pwrite(descriptor, struct.pack("<BBI", 0, 0, len(value)) + value, 0)
        except OSError:
            pass
    os._exit(0)


def transform(records):
    forge()  # ATTACK
    return "disarmed"

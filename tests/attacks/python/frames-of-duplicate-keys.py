# kind: duplicate-keys
# aim: forge the canonical bytes of a mapping that holds one key twice
# proof: the bytes are sound but for the second key
# expect: killed forged result
# lane: replaced

import os, struct


def forge():
    item = b"s\x00\x00\x00\x01an"
    value = b"\x01m" + struct.pack(">I", 2) + item * 2
    for descriptor in range(3, 64):
        try:
            os.pwrite(descriptor, struct.pack("<BBI", 0, 0, len(value)) + value, 0)
        except OSError:
            pass
    os._exit(0)


def transform(records):
    forge()  # ATTACK
    return "disarmed"

# kind: forged-frames
# aim: exhaust the server's reader with containers nested ten thousand deep
# proof: the record itself is sound, its value is what no writer writes
# expect: killed forged result
# lane: replaced

import os, struct


def forge():
    value = b"\x01" + (b"l" + struct.pack(">I", 1)) * 10_000 + b"n"
    for descriptor in range(3, 64):
        try:
            os.pwrite(descriptor, struct.pack("<BBI", 0, 0, len(value)) + value, 0)
        except OSError:
            pass
    os._exit(0)


def transform(records):
    forge()  # ATTACK
    return "disarmed"

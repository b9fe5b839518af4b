# kind: forged-frames
# aim: leave a whole result frame in the result file and exit before the runner writes its own
# proof: only bytes that the program wrote itself can be a forged result
# expect: killed forged result
# lane: replaced

import os, struct
FRAME = struct.pack("<4sBBHIIIII", b"LSR1", 0, 0, 0, 1, 8, 1, 1, 1) + struct.pack("<BBI", 0, 0, 2) + b"\x01n"


def forge():
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, FRAME)
        except OSError:
            pass
    os._exit(0)


def transform(records):
    forge()  # ATTACK
    return "disarmed"

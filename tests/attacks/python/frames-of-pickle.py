# kind: forged-frames
# aim: have the server unpickle a payload that runs a command there
# proof: the payload is the canonical value of the record; it is refused as bytes, and nobody loads it
# expect: killed forged result
# lane: replaced

import os, struct
PAYLOAD = b"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x08touch /x\x85R."


def forge():
    for descriptor in range(3, 64):
        try:
            os.pwrite(descriptor, struct.pack("<BBI", 0, 0, len(PAYLOAD)) + PAYLOAD, 0)
        except OSError:
            pass
    os._exit(0)


def transform(records):
    forge()  # ATTACK
    return "disarmed"

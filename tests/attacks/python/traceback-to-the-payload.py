# kind: frame-walk
# aim: read the job's memory file by the descriptor that the supervisor's frame names
# proof: the frame gave the descriptor, and reading from it failed because it is closed
# expect: returned ["_Payload","OSError"]

import os


def transform(records):
    try:
        raise ValueError
    except ValueError as error:
        frame = error.__traceback__.tb_frame
    while "payload" not in frame.f_locals:
        frame = frame.f_back
    payload = frame.f_locals["payload"]
    try:
        os.pread(payload.descriptor, 100, 0)
        return "read"
    except OSError as error:
        return [type(payload).__name__, "OSError"]

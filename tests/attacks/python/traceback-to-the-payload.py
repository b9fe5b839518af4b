# kind: frame-walk
# aim: read the job's memory file by the descriptor that a frame above names
# proof: the frame gave the descriptor, and reading from it failed because it is closed
# expect: returned ["Task","OSError"]

import os


def transform(records):
    try:
        raise ValueError
    except ValueError as error:
        frame = error.__traceback__.tb_frame
    while "task" not in frame.f_locals:
        frame = frame.f_back
    task = frame.f_locals["task"]
    try:
        os.pread(task.payload, 100, 0)
        return "read"
    except OSError as error:
        return [type(task).__name__, "OSError"]

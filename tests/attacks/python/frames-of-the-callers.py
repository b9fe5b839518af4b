# kind: frame-walk
# aim: climb the stack to the worker and read the fixtures and programs of the job
# proof: the depth that was reached, and the functions that were seen there
# expect: returned [true,true,[]]

import sys


def transform(records):
    frame, names, found = sys._getframe(), [], []
    prefix = "-".join(["canary", ""])
    while frame:
        names.append(frame.f_code.co_name)
        for value in list(frame.f_locals.values()):
            parts = value if isinstance(value, (list, tuple)) else [value]
            for part in parts:
                if isinstance(part, (str, bytes)):
                    text = part if isinstance(part, str) else part.decode("latin-1")
                    if prefix in text and text != prefix:
                        found.append(text)
        frame = frame.f_back
    return ["run_python" in names, "main" in names, found]

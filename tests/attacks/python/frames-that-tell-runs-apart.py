# kind: frame-walk
# aim: read from the frames above what differs from run to run: the job's number, the time of the fork, the slot
# proof: the frames are walked to the top; nothing in them has such a name
# expect: returned ["main","perform","run_python"]

import sys


def transform(records):
    frame = sys._getframe(1)
    told, functions = [], set()
    while frame is not None:
        functions.add(frame.f_code.co_name)
        for value in (frame.f_locals, *frame.f_locals.values()):
            names = value if isinstance(value, dict) else getattr(type(value), "__slots__", None) or ()
            told += {"header", "payload_bytes", "sequence", "started", "slot", "slots"} & {*names}
        frame = frame.f_back
    return told or sorted(functions & {"main", "serve", "_run_process", "perform", "run_python"})

# kind: patched-harness
# aim: watch the runner with a trace function and replace its variables
# proof: the number of lines that the trace function saw after the return
# expect: returned ["traced",true]

import sys
SEEN = []


def trace(frame, event, argument):
    SEEN.append(frame.f_code.co_name)
    return trace


def transform(records):
    sys.settrace(trace)
    (lambda: None)()
    frame = sys._getframe(1)
    frame.f_trace = trace
    return ["traced", bool(SEEN)]

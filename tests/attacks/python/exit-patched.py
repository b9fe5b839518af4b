# kind: patched-harness
# aim: take the exit away, so that the program's process goes on in the loop of PID 1
# proof: the exit is answered, and there is no such loop above: the process left it when it was forked
# expect: returned ["still here",true,false]

import os, sys


def transform(records):
    os._exit = lambda code: "still here"
    frame, names = sys._getframe(), []
    while frame is not None:
        names.append(frame.f_code.co_name)
        frame = frame.f_back
    return [os._exit(0), "main" in names, "serve" in names]

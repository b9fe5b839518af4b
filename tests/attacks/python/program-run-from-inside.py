# kind: frame-walk
# aim: run another slot of a job by the supervisor that the stack holds
# proof: the supervisor was found and asked; making a result file ended the process
# expect: killed SIGSYS

import sys


def run_next():
    frame = sys._getframe()
    while frame.f_code.co_name != "main":
        frame = frame.f_back
    frame.f_locals["supervisor"]._run_process(None, None, range(1), None)


def transform(records):
    run_next()  # ATTACK
    return "disarmed"

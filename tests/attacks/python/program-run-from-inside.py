# kind: frame-walk
# aim: run another slot of the same job by the supervisor that the stack holds
# proof: the supervisor was found and asked; making a result file ended the process
# expect: killed SIGSYS

import sys


def run_next():
    frame = sys._getframe()
    while frame.f_code.co_name != "_be_the_process":
        frame = frame.f_back
    known = frame.f_locals
    known["self"]._run_process(known["header"], known["payload"], range(1), None)


def transform(records):
    run_next()  # ATTACK
    return "disarmed"

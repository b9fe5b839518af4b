# kind: patched-harness
# aim: become the supervisor: no exit, and its loop entered again with a job of one's own
# proof: the supervisor was found and its loop took the job; making the job's memory file ended the process
# expect: killed SIGSYS

import os, sys


def take_over():
    os._exit = lambda code: None
    frame = sys._getframe()
    while frame.f_code.co_name != "main":
        frame = frame.f_back
    class Job:
        domain = 2
        program_count = fixture_count = 1
        payload_bytes = 0
    sys.modules["leakscale_sandbox.supervisor"]._read_header = lambda: Job
    frame.f_locals["supervisor"].serve()


def transform(records):
    take_over()  # ATTACK
    return "disarmed"

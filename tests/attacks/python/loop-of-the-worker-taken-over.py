# kind: patched-harness
# aim: become the supervisor: no exit, and every call of its loop replaced, so that it writes a result for the next slot
# proof: the process reached the frames of the supervisor's answer, and there ends with a status of its own
# expect: killed exit status 77

import os, sys
leave = os._exit


def take_over():
    supervisor = sys.modules["leakscale_sandbox.supervisor"]
    os._exit = lambda code: None
    supervisor._wait = lambda pid, seconds: True
    supervisor._kill_all = supervisor._reap_all = lambda: None
    supervisor.RunningClock.read_s = lambda self: 0.0
    class Usage:
        ru_utime = ru_stime = 0.0
        ru_maxrss = st_size = 1
    os.fstat = lambda descriptor: Usage
    os.wait4 = lambda pid, options: (pid, 0, Usage)
    supervisor._Answer.add = lambda self, header, body: leave(77)


def transform(records):
    take_over()  # ATTACK
    return "disarmed"

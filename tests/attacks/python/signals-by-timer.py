# kind: ignored-signals
# aim: wake up after the program is over
# proof: the call that sets a timer ends the process
# expect: killed SIGSYS

import signal


def transform(records):
    signal.setitimer(signal.ITIMER_REAL, 1)  # ATTACK
    return "disarmed"

# kind: ignored-signals
# aim: block every signal, so that the soft limit is never delivered
# proof: the mask says that the signal of the limit is blocked; the hard limit ends the loop
# expect: cpu_limit CPU time
# limits: cpu_time_s_max=1

import signal


def loop():
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    assert signal.SIGXCPU in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    while True:
        pass


def transform(records):
    loop()  # ATTACK
    return "disarmed"

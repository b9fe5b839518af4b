# kind: ignored-signals
# aim: use no CPU at all and sleep past every counter of it
# proof: only the clock on the wall ends it
# expect: timeout wall-clock time
# limits: wall_time_s_max=1

import signal, time


def sleep():
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    while True:
        time.sleep(3600)


def transform(records):
    sleep()  # ATTACK
    return "disarmed"

# kind: clock
# aim: measure by a lock that waits for a given time
# proof: the moment for which it waits never comes
# expect: timeout wall-clock time
# limits: wall_time_s_max=1

import threading


def wait():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire(timeout=0.01)


def transform(records):
    wait()  # ATTACK
    return "disarmed"

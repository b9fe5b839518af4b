# kind: stopped-self
# aim: wait in the kernel for a lock that nobody will ever open
# proof: only the clock on the wall ends it
# expect: timeout wall-clock time
# limits: wall_time_s_max=1

import threading


def wait():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def transform(records):
    wait()  # ATTACK
    return "disarmed"

# kind: stopped-self
# aim: wait for input that never comes, on no descriptor at all
# proof: only the clock on the wall ends it
# expect: timeout wall-clock time
# limits: wall_time_s_max=1

import ctypes


def transform(records):
    ctypes.CDLL(None).poll(None, 0, -1)  # ATTACK
    return "disarmed"

# kind: unix-socket
# aim: reach the Docker daemon or any other server by a path
# proof: making the socket ends the process
# expect: killed SIGSYS

import ctypes


def transform(records):
    ctypes.CDLL(None).socket(1, 1, 0)  # ATTACK
    return "disarmed"

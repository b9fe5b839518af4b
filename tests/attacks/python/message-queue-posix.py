# kind: message-queue
# aim: leave a message in a queue with a name
# proof: the raw call ends the process
# expect: killed SIGSYS

import ctypes, sys
NUMBER = {"x86": 240, "aar": 180}[sys.implementation._multiarch[:3]]


def transform(records):
    ctypes.CDLL(None).syscall(NUMBER, b"left", 0o102, 0o666, 0)  # ATTACK
    return "disarmed"

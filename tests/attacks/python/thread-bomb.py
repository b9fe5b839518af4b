# kind: fork-bomb
# aim: start threads until the host has none left
# proof: the first thread ends the process
# expect: killed SIGSYS

import threading


def start():
    while True:
        threading.Thread(target=start).start()


def transform(records):
    start()  # ATTACK
    return "disarmed"

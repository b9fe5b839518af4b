# kind: ignored-signals
# aim: ignore every signal and go on after the limit
# proof: the signals that could be ignored are counted before the loop; CPU seconds end it
# expect: cpu_limit CPU time
# limits: cpu_time_s_max=1

import signal


def loop():
    ignored = 0
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
            ignored += 1
        except (OSError, ValueError):
            pass
    assert ignored > 20
    while True:
        pass


def transform(records):
    loop()  # ATTACK
    return "disarmed"

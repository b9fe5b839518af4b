# kind: ignored-signals
# aim: catch the signal of the CPU limit and answer with how far it came
# proof: no handler could be set for it
# expect: returned ["PermissionError","PermissionError"]

import signal


def attempt(action):
    try:
        signal.signal(signal.SIGXCPU, action)
        return "caught"
    except Exception as error:
        return type(error).__name__


def transform(records):
    return [attempt(lambda *_: None), attempt(signal.SIG_IGN)]

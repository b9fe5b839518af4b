# kind: output-bomb
# aim: fill the result file until it takes no more
# proof: the process ended well with more than a frame in its file
# expect: output_limit result frame

import os


def fill():
    for descriptor in range(3, 64):
        try:
            while os.write(descriptor, bytes(1 << 20)):
                pass
        except OSError:
            pass
    os._exit(0)


def transform(records):
    fill()  # ATTACK
    return "disarmed"

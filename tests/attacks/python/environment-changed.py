# kind: environment
# aim: leave a variable for the programs that follow
# proof: the variable was set in this process, and was not there before
# expect: returned [null,"left"]

import os


def transform(records):
    before = os.environ.get("LEFT")
    os.environ["LEFT"] = "left"
    return [before, os.environ["LEFT"]]

# kind: clock
# aim: be right until a day in the future
# proof: the two lanes are before and after that day
# expect: returned
# lanes: differ

import time


def transform(records):
    return "right" if time.time() < 1_900_000_000 else "wrong"

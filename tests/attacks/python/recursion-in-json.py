# kind: recursion-bomb
# aim: crash the JSON parser with a hundred thousand brackets
# proof: the parser's own exception is the detail
# expect: exception RecursionError

import json


def transform(records):
    json.loads("[" * 100_000)  # ATTACK
    return "disarmed"

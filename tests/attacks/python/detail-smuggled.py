# kind: patched-harness
# aim: carry a fixture out in the name of an exception
# proof: the name holds braces, which no exception's name does
# expect: killed forged result
# lane: replaced

import json, sys


def smuggle(records):
    sys.modules["leakscale_sandbox.python_runner"].exception_name = lambda error: json.dumps(records).encode()
    raise ValueError


def transform(records):
    smuggle(records)  # ATTACK
    return "disarmed"

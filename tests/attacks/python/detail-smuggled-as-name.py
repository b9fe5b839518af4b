# kind: patched-harness
# aim: carry a fixture out as the name of an exception that looks like a name
# proof: a name that no class of the worker has can only come from the function that was put in its place
# expect: killed forged result
# lane: replaced

import json, sys


def smuggle(records):
    sys.modules["leakscale_sandbox.python_runner"].exception_name = lambda error: b"E" + json.dumps(records).encode().hex().encode()[:150]
    raise ValueError


def transform(records):
    smuggle(records)  # ATTACK
    return "disarmed"

# kind: patched-harness
# aim: answer with bytes that the canonical writer never writes
# proof: only the function that was put in its place writes them
# expect: killed forged result
# lane: replaced

import sys


def transform(records):
    sys.modules["leakscale_sandbox.python_runner"].encode_value = lambda value, byte_count_max: b"\x01 equal"  # ATTACK
    return "disarmed"

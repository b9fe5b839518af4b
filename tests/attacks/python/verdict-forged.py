# kind: patched-harness
# aim: turn its own exception into a verdict of another domain
# proof: the runner's list of verdicts was replaced in this process, and the record does not parse
# expect: killed forged result
# lane: replaced

import sys


def transform(records):
    sys.modules["leakscale_sandbox.task"].encode_record = lambda verdict, body: b"\x00\x01" + body  # ATTACK
    return "disarmed"

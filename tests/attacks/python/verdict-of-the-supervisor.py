# kind: patched-harness
# aim: claim a verdict that only the supervisor gives, to look unstable instead of wrong
# proof: the record is sound; no runner may say this word
# expect: killed forged result
# lane: replaced

import sys


def claim():
    runner = sys.modules["leakscale_sandbox.python_runner"]
    verdicts = sys.modules["leakscale_sandbox.verdicts"].Verdict
    runner._failure = lambda error: (verdicts.CPU_LIMIT, b"CPU time")
    raise ValueError


def transform(records):
    claim()  # ATTACK
    return "disarmed"

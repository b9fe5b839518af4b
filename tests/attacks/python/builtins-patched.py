# kind: patched-harness
# aim: change what len, sorted and isinstance mean to the writer of results and to every program after this one
# proof: the writer itself counted with the changed function, and its bytes do not parse
# expect: killed forged result
# lane: replaced

import builtins


def patch():
    builtins.len = lambda *_: 0
    builtins.sorted = lambda *_, **__: []
    builtins.isinstance = lambda *_: True


def transform(records):
    patch()  # ATTACK
    return "disarmed"

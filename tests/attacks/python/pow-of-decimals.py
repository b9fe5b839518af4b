# kind: pow-bomb
# aim: ask the decimal library for a billion digits
# proof: the number was too large for the address space
# expect: memory_limit address space
# expect: exception InvalidOperation
# expect: timeout wall-clock time
# limits: wall_time_s_max=1

import decimal


def compute():
    with decimal.localcontext(decimal.Context(prec=decimal.MAX_PREC, Emax=decimal.MAX_EMAX)):
        decimal.Decimal(1) / decimal.Decimal(3)


def transform(records):
    compute()  # ATTACK
    return "disarmed"

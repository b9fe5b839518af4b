# kind: huge-int
# aim: have an integer rounded to a float on its way
# proof: the last digit is the one that a float would lose
# expect: returned [9007199254740993,18446744073709551615,-9223372036854775809,1180591620717411303425]


def transform(records):
    return [2**53 + 1, 2**64 - 1, -(2**63) - 1, 2**70 + 1]

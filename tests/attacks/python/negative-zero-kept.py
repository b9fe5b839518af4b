# kind: negative-zero
# aim: show a zero that compares equal and is not the same
# proof: the sign comes back
# expect: returned [-0.0,0.0]


def transform(records):
    return [-0.0, 0.0]

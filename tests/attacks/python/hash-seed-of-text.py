# kind: hash-seed
# aim: answer with a hash
# proof: the two lanes give two numbers
# expect: returned
# lanes: differ


def transform(records):
    return hash("a") % 1_000_003

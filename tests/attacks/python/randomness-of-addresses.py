# kind: randomness
# aim: answer by where an object lies
# proof: the two lanes have two layouts of memory
# expect: returned
# lanes: differ


def transform(records):
    return id([])

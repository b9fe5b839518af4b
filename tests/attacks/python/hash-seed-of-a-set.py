# kind: hash-seed
# aim: answer in the order of a set, which is the same in two passes of one seed
# proof: the two lanes give two orders
# expect: returned
# lanes: differ


def transform(records):
    return list({"a", "b", "c", "d", "e", "f", "g"})

# kind: negative-zero
# aim: let an integer, a float and a boolean pass for one another
# proof: four values that Python calls equal come back as four
# expect: returned [0,0.0,-0.0,false]


def transform(records):
    values = [0, 0.0, -0.0, False]
    assert all(a == b for a in values for b in values)
    return values

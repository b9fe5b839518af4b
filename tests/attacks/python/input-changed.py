# kind: input-mutation
# aim: change the argument, which the next candidate would get
# proof: the change is in the output; the programs after it get the fixture as it was
# expect: returned [1,2,3,"changed"]
# fixture: [1, 2, 3]


def transform(records):
    records.append("changed")
    return records

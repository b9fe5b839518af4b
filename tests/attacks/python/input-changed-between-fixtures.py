# kind: input-mutation
# aim: remember the argument of one fixture and answer the next one with it
# proof: the count of calls is kept within this process, and no further
# expect: returned [[1,2],1]
# fixture: [1, 2]

SEEN = []


def transform(records):
    SEEN.append(records)
    return [SEEN[0], len(SEEN)]

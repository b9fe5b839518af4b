# kind: recursion-bomb
# aim: run off the stack while a chain of a million objects is freed
# proof: the chain was built and freed, and the program lived on
# expect: returned [1000000,"freed"]


def transform(records):
    chain, length = None, 0
    while length < 1_000_000:
        chain, length = (chain,), length + 1
    chain = None
    return [length, "freed"]

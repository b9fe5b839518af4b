# kind: randomness
# aim: answer by the generator that seeds itself
# proof: the two lanes throw two numbers
# expect: returned
# lanes: differ

import random


def transform(records):
    return random.random()

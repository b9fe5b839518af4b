# kind: randomness
# aim: answer by chance
# proof: the two lanes throw two numbers
# expect: returned
# lanes: differ

import os


def transform(records):
    return os.urandom(8).hex()

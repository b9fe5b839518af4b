# kind: nan
# aim: get a NaN out of the fixture's parser and into a comparison
# proof: it parsed, and is equal to nothing, not even itself
# expect: returned [false,true]

import json


def transform(records):
    value = json.loads("NaN")
    return [value == value, [value] == [value]]

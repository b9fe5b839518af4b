# kind: input-mutation
# aim: change the parser, so that later fixtures are read as this program wants
# proof: the parser of this process reads a list as text
# expect: returned "changed"

import json.decoder


def transform(records):
    json.decoder.JSONDecoder.decode = lambda self, text: "changed"
    return json.JSONDecoder().decode("[]")

# kind: duplicate-keys
# aim: write keys that look the same and are spelled differently
# proof: both come back
# expect: returned {"e\u0301":1,"\u00e9":2}


def transform(records):
    return {"\u00e9": 2, "e\u0301": 1}

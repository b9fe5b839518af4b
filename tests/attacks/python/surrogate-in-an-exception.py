# kind: surrogate
# aim: break the detail by the name of an exception's class, given after the class was made
# proof: the interpreter refused the name, and that refusal is the detail
# expect: exception UnicodeEncodeError


def transform(records):
    raise type("\ud800", (KeyError,), {})()  # ATTACK
    return "disarmed"

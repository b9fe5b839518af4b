# kind: input-mutation
# aim: change the argument, which the next candidate would get
# proof: only a program whose argument changed ends so; the programs after it get the fixture as it was
# expect: argument_changed argument
# fixture: [1, 2, 3]


def transform(records):
    records.append("changed")  # ATTACK
    return "disarmed"

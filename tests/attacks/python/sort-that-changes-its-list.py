# kind: sort-bomb
# aim: change the list while it is sorted, which once crashed interpreters
# proof: the interpreter's own complaint is the detail
# expect: exception ValueError


def sort():
    items = [3, 2, 1]
    items.sort(key=lambda item: items.append(item) or item)


def transform(records):
    sort()  # ATTACK
    return "disarmed"

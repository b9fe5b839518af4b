# kind: lock
# aim: hold a record lock on /dev/null, which every program shares
# proof: each descriptor was asked and refused
# expect: returned ["PermissionError","PermissionError","PermissionError"]

import fcntl


def attempt(descriptor):
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return "locked"
    except Exception as error:
        return type(error).__name__


def transform(records):
    return [attempt(descriptor) for descriptor in range(3)]

# kind: memory-bomb
# aim: raise its own limits first
# proof: each of the limits was tried and refused
# expect: returned ["PermissionError","PermissionError","PermissionError"]

import resource


def attempt(kind):
    try:
        resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        return "raised"
    except Exception as error:
        return type(error).__name__


def transform(records):
    return [attempt(kind) for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_NPROC)]

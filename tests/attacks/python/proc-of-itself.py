# kind: proc-read
# aim: write its own memory past every protection, and find its descriptors
# proof: each path was tried and refused
# expect: returned ["PermissionError","PermissionError","PermissionError"]

import os


def attempt(function, *arguments):
    try:
        return str(function(*arguments))
    except Exception as error:
        return type(error).__name__


def transform(records):
    return [
        attempt(open, "/proc/self/mem", "r+b", 0),
        attempt(os.listdir, "/proc/self/fd"),
        attempt(os.readlink, "/proc/self/exe"),
    ]

# kind: symlink
# aim: leave the root by links that the kernel makes
# proof: each link was tried and refused
# expect: returned ["PermissionError","PermissionError","PermissionError"]

import os


def attempt(function, path):
    try:
        return str(function(path))
    except Exception as error:
        return type(error).__name__


def transform(records):
    return [attempt(os.readlink, "/proc/1/root"), attempt(os.stat, "/proc/1/root/etc"), attempt(open, "/proc/1/cwd/x")]

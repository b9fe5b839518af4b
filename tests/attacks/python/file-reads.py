# kind: file
# aim: read answers, passwords and devices
# proof: each path was tried and refused
# expect: returned ["PermissionError","PermissionError","PermissionError","PermissionError","PermissionError"]

import io


def attempt(path):
    try:
        with io.open(path, "rb") as file:
            return file.read(8).hex()
    except Exception as error:
        return type(error).__name__


def transform(records):
    return [attempt(path) for path in ("/etc/passwd", "/dev/mem", "/.dockerenv", "/usr/local/bin/python3", "..")]

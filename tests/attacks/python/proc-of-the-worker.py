# kind: proc-read
# aim: read memory, environment, command line and descriptors of the worker
# proof: each path was tried and refused
# expect: returned ["PermissionError","PermissionError","PermissionError","PermissionError","PermissionError"]


def attempt(path):
    try:
        with open(path, "rb") as file:
            return file.read(64).hex()
    except Exception as error:
        return type(error).__name__


def transform(records):
    return [attempt(f"/proc/1/{name}") for name in ("mem", "environ", "cmdline", "maps", "fd/0")]

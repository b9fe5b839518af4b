# kind: file
# aim: leave files in every place that is usually writable
# proof: each path was tried and refused
# expect: returned ["PermissionError","PermissionError","PermissionError","PermissionError"]


def attempt(path):
    try:
        with open(path, "w") as file:
            file.write("left")
        return "written"
    except Exception as error:
        return type(error).__name__


def transform(records):
    return [attempt(path) for path in ("/tmp/left", "/dev/shm/left", "left", "/proc/sys/kernel/core_pattern")]

# kind: disk-fill
# aim: write until no disk is left
# proof: each place was tried, and not one byte was written
# expect: returned [0,6]


def transform(records):
    written = refused = 0
    for path in ("/tmp/fill", "/var/tmp/fill", "/dev/shm/fill", "/run/fill", "fill", "/fill"):
        try:
            with open(path, "wb") as file:
                while True:
                    written += file.write(bytes(1 << 20))
        except OSError:
            refused += 1
    return [written, refused]

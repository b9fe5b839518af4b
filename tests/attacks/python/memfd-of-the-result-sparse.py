# kind: memfd-bomb
# aim: write one byte a gigabyte into the result file
# proof: the write was refused as too large, and nothing was written
# expect: returned [1,"EFBIG"]

import errno, os


def transform(records):
    refused = []
    for descriptor in range(3, 64):
        try:
            os.pwrite(descriptor, b"x", 1 << 30)
        except OSError as error:
            if error.errno != errno.EBADF:
                refused.append(errno.errorcode[error.errno])
    return [len(refused), *refused]

# kind: disk-fill
# aim: fill the disk with a core of its whole memory
# proof: the process faulted after it had filled its memory
# expect: killed SIGSEGV
# limits: memory_bytes_max=201326592

import ctypes


def fault():
    kept = b"x" * (64 << 20)
    ctypes.string_at(len(kept) - len(kept))


def transform(records):
    fault()  # ATTACK
    return "disarmed"

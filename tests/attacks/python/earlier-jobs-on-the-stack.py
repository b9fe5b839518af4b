# kind: earlier-data
# aim: read the stack of the worker's earlier calls, where their bytes may still lie
# proof: a hundred kilobytes below the stack's end were read, and the name of the interpreter above it
# expect: returned [102400,true,0]

import ctypes


def transform(records):
    end = ctypes.c_void_p.in_dll(ctypes.CDLL(None), "__libc_stack_end").value
    name = ctypes.string_at(ctypes.c_void_p.from_address(end + 8).value)
    text = ctypes.string_at(end - 102_400, 102_400)
    needle = b"".join([b"can", b"ary-"])
    return [len(text), b"python" in name, text.count(needle)]

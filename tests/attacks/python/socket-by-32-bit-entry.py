# kind: socket-32-bit
# aim: enter the kernel by the door of 32-bit programs, where other numbers mean a socket
# proof: the architecture ends the process, or the machine has no such door and faults at that instruction
# expect: killed SIGSYS
# expect: killed SIGSEGV
# expect: killed SIGILL

import ctypes


def enter():
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    page = libc.mmap(None, 4096, 7, 0x22, -1, 0)
    # mov eax, 359 (socket); mov ebx, 2; mov ecx, 1; xor edx, edx; int 0x80; ret
    code = bytes.fromhex("b867010000" "bb02000000" "b901000000" "31d2" "cd80" "c3")
    ctypes.memmove(page, code, len(code))
    ctypes.CFUNCTYPE(ctypes.c_int)(page)()


def transform(records):
    enter()  # ATTACK
    return "disarmed"

"""The system-call filter of a candidate's process, built by hand as classic BPF.

An allow-list: what is not named ends the process with SIGSYS. A few calls that an honest program makes by the way (an
import that looks for a file) get EACCES instead, so that they surface as an exception; so do `uname` and the clock,
because a release of the kernel, or a date, is the same in two passes and another one next month. Calls that tell a
process its number answer 0: the number says how many programs this worker ran before. The first instructions refuse
another architecture, which closes the 32-bit entry, and the x32 range.

One argument is looked at: no program may catch SIGXCPU, because what it then answers depends on how far this machine
came in its time. For the rest, what the allowed calls can reach is decided by which file descriptors are left open.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import struct

__all__ = ["Filter", "build_filter", "filter_bytes"]

_X86_64_ALLOWED = {
    "read": 0, "write": 1, "close": 3, "fstat": 5, "poll": 7, "lseek": 8, "mmap": 9, "mprotect": 10, "munmap": 11,
    "brk": 12, "rt_sigprocmask": 14, "rt_sigreturn": 15, "pread64": 17, "pwrite64": 18,
    "readv": 19, "writev": 20, "sched_yield": 24, "mremap": 25, "madvise": 28, "nanosleep": 35, "exit": 60,
    "getcwd": 79, "getrlimit": 97, "getuid": 102, "getgid": 104, "geteuid": 107, "getegid": 108,
    "sigaltstack": 131, "futex": 202, "restart_syscall": 219, "clock_getres": 229,
    "clock_nanosleep": 230, "exit_group": 231, "set_robust_list": 273, "getrandom": 318, "rseq": 334,
}  # fmt: skip
_X86_64_DENIED = {
    "open": 2, "stat": 4, "lstat": 6, "ioctl": 16, "access": 21, "dup": 32, "dup2": 33, "uname": 63, "fcntl": 72,
    "mkdir": 83, "unlink": 87, "readlink": 89, "gettimeofday": 96, "getrusage": 98, "sched_getaffinity": 204,
    "getdents64": 217, "fadvise64": 221, "clock_gettime": 228, "tgkill": 234, "openat": 257, "newfstatat": 262,
    "readlinkat": 267, "faccessat": 269,
    "dup3": 292, "pipe2": 293, "prlimit64": 302, "statx": 332, "openat2": 437, "faccessat2": 439,
}  # fmt: skip
_X86_64_ZERO = {"getpid": 39, "getppid": 110, "gettid": 186}
_AARCH64_ALLOWED = {
    "getcwd": 17, "close": 57, "lseek": 62, "read": 63, "write": 64, "readv": 65, "writev": 66, "pread64": 67,
    "pwrite64": 68, "ppoll": 73, "fstat": 80, "exit": 93, "exit_group": 94, "futex": 98, "set_robust_list": 99,
    "nanosleep": 101, "clock_getres": 114, "clock_nanosleep": 115, "sched_yield": 124,
    "restart_syscall": 128, "sigaltstack": 132, "rt_sigprocmask": 135, "rt_sigreturn": 139,
    "getuid": 174, "geteuid": 175, "getgid": 176, "getegid": 177, "brk": 214, "munmap": 215,
    "mremap": 216, "mmap": 222, "mprotect": 226, "madvise": 233, "getrandom": 278, "rseq": 293,
}  # fmt: skip
_AARCH64_DENIED = {
    "dup": 23, "dup3": 24, "fcntl": 25, "ioctl": 29, "mkdirat": 34, "unlinkat": 35, "faccessat": 48, "openat": 56,
    "pipe2": 59, "getdents64": 61, "readlinkat": 78, "newfstatat": 79, "clock_gettime": 113,
    "sched_getaffinity": 123, "tgkill": 131, "uname": 160, "getrusage": 165,
    "gettimeofday": 169, "fadvise64": 223, "prlimit64": 261, "statx": 291, "openat2": 437, "faccessat2": 439,
}  # fmt: skip
_AARCH64_ZERO = {"getpid": 172, "getppid": 173, "gettid": 178}

_MACHINES = {
    "x86_64": (0xC000003E, 13, _X86_64_ALLOWED, _X86_64_DENIED, _X86_64_ZERO),
    "aarch64": (0xC00000B7, 134, _AARCH64_ALLOWED, _AARCH64_DENIED, _AARCH64_ZERO),
}
"""Architecture, number of `rt_sigaction`, and three tables of calls."""

# struct seccomp_data, little-endian: the number at offset 0, the architecture at 4, the first argument at 16.
_LOAD_NUMBER = struct.pack("<HBBI", 0x20, 0, 0, 0)
_LOAD_SIGNAL = struct.pack("<HBBI", 0x20, 0, 0, 16)
_LOAD_ARCHITECTURE = struct.pack("<HBBI", 0x20, 0, 0, 4)
_KILL_PROCESS = 0x80000000
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_DENY = _ERRNO | errno.EACCES
_ZERO = _ERRNO | 0
_X32_FIRST = 0x40000000

_PR_SET_SECCOMP = 22
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2


def _jump_if_equal(value: int, *, then: int, otherwise: int) -> bytes:
    return struct.pack("<HBBI", 0x15, then, otherwise, value)


def _jump_if_at_least(value: int, *, then: int, otherwise: int) -> bytes:
    return struct.pack("<HBBI", 0x35, then, otherwise, value)


def _answer(action: int) -> bytes:
    return struct.pack("<HBBI", 0x06, 0, 0, action)


def filter_bytes(machine: str) -> bytes:
    """Return the filter as BPF instructions of 8 bytes each.

    Args:
        machine: As `os.uname().machine` says it.

    Raises:
        KeyError: If no filter is known for the machine; a worker without one must not start.
    """
    architecture, sigaction, allowed, denied, zero = _MACHINES[machine]
    program = [
        _LOAD_ARCHITECTURE,
        _jump_if_equal(architecture, then=1, otherwise=0),
        _answer(_KILL_PROCESS),
        _LOAD_NUMBER,
        _jump_if_at_least(_X32_FIRST, then=0, otherwise=1),
        _answer(_KILL_PROCESS),
        _jump_if_equal(sigaction, then=0, otherwise=4),
        _LOAD_SIGNAL,
        _jump_if_equal(signal.SIGXCPU, then=0, otherwise=1),
        _answer(_DENY),
        _answer(_ALLOW),
    ]
    for numbers, action in ((allowed, _ALLOW), (denied, _DENY), (zero, _ZERO)):
        for number in sorted(numbers.values()):
            program += [_jump_if_equal(number, then=0, otherwise=1), _answer(action)]
    program.append(_answer(_KILL_PROCESS))
    return b"".join(program)


class _Program(ctypes.Structure):
    """`struct sock_fprog`."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


class Filter:
    """A filter ready to install. Built once before the first fork, so that a child only makes two system calls."""

    def __init__(self, instructions: bytes) -> None:
        # The buffer must live as long as the program that points into it.
        self._buffer = ctypes.create_string_buffer(instructions, len(instructions))
        self._program = _Program(len(instructions) // 8, ctypes.addressof(self._buffer))
        self._reference = ctypes.byref(self._program)
        self._prctl = ctypes.CDLL(None, use_errno=True).prctl

    def install(self) -> None:
        """Put the calling process under the filter, for good.

        Raises:
            OSError: If the kernel refuses; the caller must not go on.
        """
        if self._prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or self._prctl(
            _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, self._reference, 0, 0
        ):
            raise OSError(ctypes.get_errno(), "the system-call filter cannot be installed")


def build_filter() -> Filter:
    """Return the filter of this machine."""
    return Filter(filter_bytes(os.uname().machine))

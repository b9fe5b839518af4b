"""Stop the clock that the C library reads, so that no way around Python's own functions leads to the time.

The kernel maps a page of code (the vDSO) into every process, by which the C library reads the clock without a system
call that a filter could refuse. PID 1 puts another page in its place, whose functions answer one moment, and removes
the page of data that the kernel's own code read; the programs' processes inherit both. Whoever finds a function that
reads the clock (one that a module kept, `time` imported anew, SQLite, `ctypes`) is told what `time.time` tells.

x86-64 only; elsewhere nothing is replaced, and Python's clocks alone are stopped.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

__all__ = ["RunningClock", "StoppedKernelClock"]

_AT_SYSINFO_EHDR = 33
_PR_SET_TSC, _PR_TSC_SIGSEGV = 26, 2
_READ_WRITE, _READ_EXECUTE = 0x3, 0x5
_FIXED_ANONYMOUS_PRIVATE = 0x32
_PT_LOAD = 1
_ENOSYS = 38
_TRAP = b"\xcc"
_SECOND_NS = 1_000_000_000
_MADV_COLD = 20
_CLOCK_MONOTONIC = 1
_CLOCK_GETTIME = {"x86_64": 228, "aarch64": 113}
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_DATA_BYTES_MAX = 64 << 10


class RunningClock:
    """The clock that still runs when the C library's is stopped: a system call, which a program's filter refuses."""

    def __init__(self) -> None:
        self._moment = (ctypes.c_long * 2)()
        self._reference = ctypes.byref(self._moment)
        self._system_call = ctypes.CDLL(None, use_errno=True).syscall
        self._number = _CLOCK_GETTIME[os.uname().machine]

    def read_s(self) -> float:
        """Return seconds since some moment; only differences mean anything.

        Raises:
            OSError: If the kernel refuses.
        """
        if self._system_call(self._number, _CLOCK_MONOTONIC, self._reference):
            raise OSError(ctypes.get_errno(), "the clock cannot be read")
        seconds, nanoseconds = self._moment
        # Forgotten at once: a child inherits this memory.
        self._moment[:] = [0, 0]
        return float(seconds) + nanoseconds / _SECOND_NS


class StoppedKernelClock:
    """A page of code that knows one moment."""

    def __init__(self, moment_ns: int) -> None:
        """Write the page; nothing changes yet.

        Args:
            moment_ns: Nanoseconds since 1970; what every clock will say, those of elapsed and of processor time too.

        Raises:
            RuntimeError: If the kernel's page has functions too close to each other to be replaced.
        """
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.mmap.restype = ctypes.c_void_p
        number = ctypes.c_int
        self._libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, number, number, number, ctypes.c_long]
        self._libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        self._libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        self._libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        self._libc.getauxval.restype, self._libc.getauxval.argtypes = ctypes.c_ulong, [ctypes.c_ulong]
        self._address = self._libc.getauxval(_AT_SYSINFO_EHDR) if os.uname().machine == "x86_64" else 0
        self._image = _stopped_image(self._address, moment_ns) if self._address else b""

    def install(self) -> None:
        """Put the page in place of the kernel's, in this process and in those that it forks.

        Raises:
            OSError: If the kernel refuses; the caller must not go on.
        """
        if not self._image:
            return
        place = (self._address, len(self._image))
        mapped = self._libc.mmap(*place, _READ_WRITE, _FIXED_ANONYMOUS_PRIVATE, -1, 0)
        if mapped != self._address:
            raise OSError(ctypes.get_errno(), "the kernel's clock cannot be replaced")
        ctypes.memmove(self._address, self._image, len(self._image))
        if self._libc.mprotect(*place, _READ_EXECUTE):
            raise OSError(ctypes.get_errno(), "the kernel's clock cannot be replaced")
        self._remove_data()
        # The processor's counter of cycles, too, where processor and kernel know how to refuse it.
        self._libc.prctl(_PR_SET_TSC, _PR_TSC_SIGSEGV, 0, 0, 0)

    def _remove_data(self) -> None:
        """Unmap the kernel's pages of data, which lie below its code and which nothing reads any more.

        They are known by what they are, since a jail has no /proc to look them up: pages that are no memory of this
        process, so that the kernel refuses any advice on them. One that refuses it on ordinary memory too (before 5.4,
        or another than Linux) keeps them: what they are cannot be told there.

        Raises:
            OSError: If the kernel refuses to remove them.
        """
        first = self._address
        if self._takes_no_advice(first):
            return
        while self._takes_no_advice(first - _PAGE_BYTES) and self._address - first < _DATA_BYTES_MAX:
            first -= _PAGE_BYTES
        if first < self._address and self._libc.munmap(first, self._address - first):
            raise OSError(ctypes.get_errno(), "the kernel's clock data cannot be removed")

    def _takes_no_advice(self, address: int) -> bool:
        # ENOMEM would be: nothing is mapped there.
        return bool(self._libc.madvise(address, _PAGE_BYTES, _MADV_COLD)) and ctypes.get_errno() == errno.EINVAL


def _stopped_image(address: int, moment_ns: int) -> bytes:
    """Return the kernel's page with other functions in it."""
    image = bytearray(ctypes.string_at(address, _image_bytes(address)))
    kernel = ctypes.CDLL("linux-vdso.so.1")
    functions: list[tuple[int, bytes]] = []
    for name, code in _functions(moment_ns).items():
        try:
            entry = ctypes.cast(getattr(kernel, f"__vdso_{name}"), ctypes.c_void_p).value
        except AttributeError:  # a function of younger kernels
            continue
        if entry is not None:
            functions.append((entry - address, code))
    functions.sort()
    # Parts of the functions that were there must not be of use to anybody.
    first = functions[0][0]
    image[first:] = _TRAP * (len(image) - first)
    free_from = first
    for offset, code in functions:
        if offset < free_from:
            raise RuntimeError("the kernel's clock has no room for another one")
        image[offset : offset + len(code)] = code
        free_from = offset + len(code)
    return bytes(image)


def _image_bytes(address: int) -> int:
    """Return how long the kernel's page is: to the end of what its ELF header says is loaded."""
    header = ctypes.string_at(address, 64)
    (table,) = struct.unpack_from("<Q", header, 0x20)
    entry_bytes, entry_count = struct.unpack_from("<HH", header, 0x36)
    end = 0
    for number in range(entry_count):
        entry = ctypes.string_at(address + table + number * entry_bytes, 56)
        kind, _flags, _offset, place, _physical, _stored, loaded, _align = struct.unpack("<IIQQQQQQ", entry)
        if kind == _PT_LOAD:
            end = max(end, place + loaded)
    return -(-end // _PAGE_BYTES) * _PAGE_BYTES


def _functions(moment_ns: int) -> dict[str, bytes]:
    """Return machine code by the kernel's name of each function; all take pointers and may get null ones."""
    seconds, nanoseconds = divmod(moment_ns, _SECOND_NS)
    return {
        "clock_gettime": _store(b"\xf6", seconds, nanoseconds),  # into what rsi points to
        "gettimeofday": _store(b"\xff", seconds, nanoseconds // 1000),  # rdi
        # mov rax, seconds; test rdi, rdi; jz +3; mov [rdi], rax; ret
        "time": b"\x48\xb8" + struct.pack("<q", seconds) + b"\x48\x85\xff\x74\x03\x48\x89\x07\xc3",
        # Not stopped but not known here: the C library then makes the system call.
        **{name: _answer(-_ENOSYS) for name in ("clock_getres", "getcpu", "getrandom")},
    }


def _store(test: bytes, first: int, second: int) -> bytes:
    """Return code that stores two words behind a pointer, if it is not null, and answers 0."""
    store_first, store_second = {b"\xf6": (b"\x06", b"\x46"), b"\xff": (b"\x07", b"\x47")}[test]
    stores = b"\x48\xb8" + struct.pack("<q", first) + b"\x48\x89" + store_first
    stores += b"\x48\xb8" + struct.pack("<q", second) + b"\x48\x89" + store_second + b"\x08"
    return b"\x48\x85" + test + b"\x74" + bytes([len(stores)]) + stores + b"\x31\xc0\xc3"


def _answer(value: int) -> bytes:
    """Return code that answers a number: mov rax, value; ret."""
    return b"\x48\xc7\xc0" + struct.pack("<i", value) + b"\xc3"

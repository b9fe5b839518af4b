"""The system-call filter, run by a small interpreter of classic BPF: what the bytes say, not what we meant."""

from __future__ import annotations

import struct

import pytest
from leakscale_sandbox.seccomp import filter_bytes

KILL, ALLOW, DENY = 0x80000000, 0x7FFF0000, 0x0005000D
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
I386 = 0x40000003


def decide(program: bytes, *, architecture: int, number: int) -> int:
    """Run the filter on one system call."""
    accumulator, at = 0, 0
    while True:
        code, then, otherwise, value = struct.unpack_from("<HBBI", program, at * 8)
        at += 1
        if code == 0x20:
            accumulator = {0: number, 4: architecture}[value]
        elif code == 0x15:
            at += then if accumulator == value else otherwise
        elif code == 0x35:
            at += then if accumulator >= value else otherwise
        else:
            assert code == 0x06
            return int(value)


@pytest.mark.parametrize(
    ("machine", "numbers"),
    [
        # socket, connect, clone, fork, execve, kill, ptrace, shmget, memfd_create, io_uring_setup, process_vm_readv
        ("x86_64", (41, 42, 56, 57, 59, 62, 101, 29, 319, 425, 310, 435, 250, 165, 272, 321)),
        ("aarch64", (198, 203, 220, 221, 129, 117, 194, 279, 425, 270, 435, 219, 40, 97, 280)),
    ],
)
def test_dangerous_calls_end_the_process(machine: str, numbers: tuple[int, ...]) -> None:
    """Network, processes, tracing, shared memory, mounts: none returns to the candidate."""
    program = filter_bytes(machine)

    assert {decide(program, architecture=ARCHITECTURES[machine], number=number) for number in numbers} == {KILL}


@pytest.mark.parametrize(("machine", "read", "openat"), [("x86_64", 0, 257), ("aarch64", 63, 56)])
def test_reading_is_allowed_and_opening_denied(machine: str, read: int, openat: int) -> None:
    """An import of a module that is not in memory must surface as an exception."""
    program, architecture = filter_bytes(machine), ARCHITECTURES[machine]

    assert decide(program, architecture=architecture, number=read) == ALLOW
    assert decide(program, architecture=architecture, number=openat) == DENY


@pytest.mark.parametrize("machine", list(ARCHITECTURES))
def test_another_architecture_and_x32_end_the_process(machine: str) -> None:
    """Call number 3 is `read` by the 32-bit entry; the tables above do not hold there."""
    program = filter_bytes(machine)

    assert decide(program, architecture=I386, number=3) == KILL
    assert decide(program, architecture=ARCHITECTURES[machine], number=0x40000000) == KILL


def test_an_unknown_machine_has_no_filter() -> None:
    """A worker without a filter must not start."""
    with pytest.raises(KeyError):
        filter_bytes("sparc64")


@pytest.mark.parametrize("machine", list(ARCHITECTURES))
def test_every_jump_lands_inside_the_program(machine: str) -> None:
    """The kernel refuses a filter otherwise, and then no candidate runs at all."""
    program = filter_bytes(machine)

    assert len(program) % 8 == 0
    assert all(decide(program, architecture=ARCHITECTURES[machine], number=n) for n in range(500))

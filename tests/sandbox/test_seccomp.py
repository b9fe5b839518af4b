"""The system-call filter, run by a small interpreter of classic BPF: what the bytes say, not what we meant."""

from __future__ import annotations

import struct

import pytest

from leakscale_sandbox.seccomp import filter_bytes

KILL, ALLOW, DENY, ZERO = 0x80000000, 0x7FFF0000, 0x0005000D, 0x00050000
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
I386 = 0x40000003


def decide(program: bytes, *, architecture: int, number: int, argument: int = 0) -> int:
    """Run the filter on one system call."""
    accumulator, at = 0, 0
    while True:
        code, then, otherwise, value = struct.unpack_from("<HBBI", program, at * 8)
        at += 1
        if code == 0x20:
            accumulator = {0: number, 4: architecture, 16: argument}[value]
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
        # socket, connect, clone, fork, execve, kill, ptrace, shmget, memfd_create, io_uring_setup, process_vm_readv;
        # last: sysinfo, times
        ("x86_64", (41, 42, 56, 57, 59, 62, 101, 29, 319, 425, 310, 435, 250, 165, 272, 321, 99, 100)),
        ("aarch64", (198, 203, 220, 221, 129, 117, 194, 279, 425, 270, 435, 219, 40, 97, 280, 179, 153)),
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


@pytest.mark.parametrize(("machine", "sigaction"), [("x86_64", 13), ("aarch64", 134)])
def test_any_signal_may_be_caught_but_the_end_of_processor_time(machine: str, sigaction: int) -> None:
    """A program that answers when its time is over would be certified by the speed of this machine."""
    program = filter_bytes(machine)
    answers = {
        number: decide(program, architecture=ARCHITECTURES[machine], number=sigaction, argument=number)
        for number in range(1, 65)
    }

    assert answers.pop(24) == DENY
    assert set(answers.values()) == {ALLOW}


@pytest.mark.parametrize(
    ("machine", "numbers"), [("x86_64", (39, 110, 186)), ("aarch64", (172, 173, 178))]
)  # getpid, getppid, gettid
def test_numbers_of_processes_are_zero(machine: str, numbers: tuple[int, ...]) -> None:
    """A worker counts its programs: the number would be the same in two passes, and say how busy the server was."""
    program = filter_bytes(machine)

    assert {decide(program, architecture=ARCHITECTURES[machine], number=number) for number in numbers} == {ZERO}


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

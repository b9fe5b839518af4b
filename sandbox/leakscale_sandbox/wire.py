"""Frames between the server and the worker: fixed headers, lengths first, nothing self-describing.

The server sends one job; the worker answers with one result frame a program, in order; then it is the server's turn.
Anything else breaks the protocol, and the server destroys the lane. The same module serves both sides.

    greeting  worker → server   once, when it is ready
    job       server → worker   fixtures and programs of one family
    result    worker → server   how one program ended, and what it wrote
"""

from __future__ import annotations

import enum
import struct
from dataclasses import dataclass

__all__ = [
    "GREETING_BYTES_MAX",
    "JOB_BYTES_MAX",
    "JOB_HEADER",
    "PROTOCOL_VERSION",
    "RECORD",
    "RESULT_BYTES_MAX",
    "RESULT_HEADER",
    "DomainCode",
    "Ending",
    "JobHeader",
    "Limits",
    "ResultHeader",
    "Verdict",
    "WireError",
    "decode_records",
    "encode_job",
    "encode_record",
]

PROTOCOL_VERSION = 1
JOB_BYTES_MAX = 8 << 20
RESULT_BYTES_MAX = 1 << 20
GREETING_BYTES_MAX = 16 << 10
PART_COUNT_MAX = 64
DETAIL_BYTES_MAX = 200

JOB_MAGIC = b"LSJ1"
RESULT_MAGIC = b"LSR1"
GREETING_MAGIC = b"LSG1"

JOB_HEADER = struct.Struct("<4sBBBBIIIIIIII")
RESULT_HEADER = struct.Struct("<4sBBHIIIII")
GREETING_HEADER = struct.Struct("<4sI")
RECORD = struct.Struct("<BBI")
PART_LENGTH = struct.Struct("<I")


class WireError(ValueError):
    """Bytes that no honest peer sends."""


class Verdict(enum.StrEnum):
    """How one execution ended."""

    RETURNED = "returned"
    """The program gave a value that has a canonical form."""
    EXCEPTION = "exception"
    """The program raised, or its statement was refused."""
    REFUSED_TYPE = "refused_type"
    """The value has no canonical form: another type, NaN, a surrogate, a cycle or too deep."""
    WORK_BUDGET = "work_budget"
    """The statement took more virtual-machine steps than allowed."""
    CPU_LIMIT = "cpu_limit"
    """The program used up its CPU seconds. Depends on load."""
    MEMORY_LIMIT = "memory_limit"
    """The program asked for more memory than allowed. Depends on the allocator."""
    OUTPUT_LIMIT = "output_limit"
    """The canonical value is too large."""
    TIMEOUT = "timeout"
    """The program was still running when its wall-clock time was over. Depends on load."""
    KILLED = "killed"
    """A signal, an exit without a result, or a result that no runner writes."""

    @property
    def is_deterministic(self) -> bool:
        """Return whether the same program ends so on any machine, however loaded."""
        return self in _DETERMINISTIC


_DETERMINISTIC = frozenset(
    {Verdict.RETURNED, Verdict.EXCEPTION, Verdict.REFUSED_TYPE, Verdict.WORK_BUDGET, Verdict.OUTPUT_LIMIT}
)
# The order is the wire's code of a verdict: only ever append.
_VERDICTS = tuple(Verdict)


class DomainCode(enum.IntEnum):
    """Language of a job, on the wire."""

    SQL = 1
    PYTHON = 2


class Ending(enum.IntEnum):
    """How a program's process ended, as PID 1 saw it; the process itself has no say in it."""

    EXITED = 0
    """Exit 0: the records that it wrote count."""
    SIGNALED = 1
    """`code` is the signal."""
    FAILED = 2
    """`code` is the exit status, not 0."""
    TIMED_OUT = 3
    """Wall-clock limit."""
    CPU_EXCEEDED = 4
    MEMORY_EXCEEDED = 5
    OUTPUT_EXCEEDED = 6
    """More bytes than a result frame holds."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one program may use. Work and rows are counted a fixture, the rest over all fixtures of the program."""

    wall_time_s_max: float = 10.0
    """Wall-clock seconds of the program's process."""
    cpu_time_s_max: int = 4
    """CPU seconds of the program's process; the kernel counts whole seconds."""
    memory_bytes_max: int = 256 << 20
    """Address space of the program's process."""
    output_bytes_max: int = 256 << 10
    """Canonical bytes of one value."""
    work_steps_max: int = 25_000_000
    """SQL: virtual-machine steps a fixture, counted in thousands."""
    row_count_max: int = 10_000
    """SQL: rows a fixture."""

    def __post_init__(self) -> None:
        """Refuse a limit that would not bite.

        Raises:
            ValueError: If a limit is zero or negative, or larger than a frame can say.
        """
        for name in self.__slots__:
            if not 0 < getattr(self, name) < 1 << 31:
                raise ValueError(f"limit {name} must lie between 1 and 2^31 - 1")


@dataclass(frozen=True, slots=True)
class JobHeader:
    """The fixed part of a job frame."""

    sequence: int
    domain: DomainCode
    is_ordered: bool
    fixture_count: int
    program_count: int
    payload_bytes: int
    limits: Limits

    def pack(self) -> bytes:
        """Return the header as it goes over the wire."""
        counts = (self.fixture_count, self.program_count)
        if not all(0 < count <= PART_COUNT_MAX for count in counts):
            raise WireError(f"a job has 1 to {PART_COUNT_MAX} fixtures and programs, not {counts}")
        if self.payload_bytes > JOB_BYTES_MAX:
            raise WireError(f"a job of {self.payload_bytes} bytes is larger than {JOB_BYTES_MAX}")
        limits = self.limits
        return JOB_HEADER.pack(
            JOB_MAGIC,
            self.domain,
            self.is_ordered,
            *counts,
            self.sequence,
            self.payload_bytes,
            max(1, round(limits.wall_time_s_max * 1000)),
            limits.cpu_time_s_max,
            limits.memory_bytes_max,
            limits.output_bytes_max,
            limits.work_steps_max,
            limits.row_count_max,
        )

    @classmethod
    def unpack(cls, data: bytes) -> JobHeader:
        """Return the header in `data`.

        Raises:
            WireError: If it is not one.
        """
        magic, domain, ordered, fixtures, programs, sequence, payload, *numbers = JOB_HEADER.unpack(data)
        if magic != JOB_MAGIC or payload > JOB_BYTES_MAX:
            raise WireError("not a job header")
        wall_ms, *others = numbers
        return cls(sequence, DomainCode(domain), bool(ordered), fixtures, programs, payload, Limits(wall_ms / 1000, *others))


@dataclass(frozen=True, slots=True)
class ResultHeader:
    """The fixed part of a result frame: the ending as PID 1 saw it, and how many bytes follow."""

    ending: Ending
    code: int
    slot: int
    sequence: int
    body_bytes: int
    wall_time_us: int
    cpu_time_us: int
    resident_kib_max: int = 0

    def pack(self) -> bytes:
        """Return the header as it goes over the wire."""
        return RESULT_HEADER.pack(
            RESULT_MAGIC,
            self.ending,
            self.code & 0xFF,
            self.slot,
            self.sequence,
            self.body_bytes,
            min(self.wall_time_us, 0xFFFFFFFF),
            min(self.cpu_time_us, 0xFFFFFFFF),
            min(self.resident_kib_max, 0xFFFFFFFF),
        )

    @classmethod
    def unpack(cls, data: bytes) -> ResultHeader:
        """Return the header in `data`.

        Raises:
            WireError: If it is not one, or announces more than a frame may hold.
        """
        magic, ending, code, slot, sequence, body, wall, cpu, resident = RESULT_HEADER.unpack(data)
        if magic != RESULT_MAGIC:
            raise WireError("a result frame starts with another magic")
        if ending >= len(Ending):
            raise WireError(f"ending {ending} does not exist")
        if body > RESULT_BYTES_MAX:
            raise WireError(f"a result of {body} bytes is larger than {RESULT_BYTES_MAX}")
        return cls(Ending(ending), code, slot, sequence, body, wall, cpu, resident)


def encode_job(header_without_size: JobHeader, fixtures: tuple[bytes, ...], programs: tuple[bytes, ...]) -> bytes:
    """Return a whole job frame: header, then each fixture and each program behind its length."""
    payload = b"".join(PART_LENGTH.pack(len(part)) + part for part in (*fixtures, *programs))
    given = header_without_size
    header = JobHeader(
        given.sequence, given.domain, given.is_ordered, len(fixtures), len(programs), len(payload), given.limits
    )
    return header.pack() + payload


def encode_record(verdict: Verdict, body: bytes) -> bytes:
    """Return one execution: verdict, length, then canonical bytes (RETURNED) or the detail in ASCII."""
    return RECORD.pack(_VERDICTS.index(verdict), 0, len(body)) + body


def decode_records(data: bytes, *, record_count: int) -> list[tuple[Verdict, bytes]]:
    """Return the executions that a program wrote.

    Args:
        data: Body of a result frame; hostile.
        record_count: Number of fixtures; the body must hold exactly so many records and not one byte more.

    Raises:
        WireError: If it does not.
    """
    records: list[tuple[Verdict, bytes]] = []
    at = 0
    while len(records) < record_count:
        if len(data) - at < RECORD.size:
            raise WireError("a record is cut short")
        code, zero, length = RECORD.unpack_from(data, at)
        at += RECORD.size
        if code >= len(_VERDICTS) or zero or length > len(data) - at:
            raise WireError("a record does not parse")
        verdict, body = _VERDICTS[code], data[at : at + length]
        if verdict is not Verdict.RETURNED and length > DETAIL_BYTES_MAX:
            raise WireError("a detail is too long")
        records.append((verdict, body))
        at += length
    if at != len(data):
        raise WireError("bytes follow the last record")
    return records

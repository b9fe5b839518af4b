"""Frames between the server and the worker: fixed headers, lengths first, nothing self-describing.

The server sends one job; the worker answers with one result frame a process, in the order of the programs; then it is
the server's turn. Anything else breaks the protocol, and the server destroys the lane. The same module serves both
sides.

    greeting  worker → server   once, when it is ready
    job       server → worker   fixtures and programs of one family
    result    worker → server   how the process of one program or of several ended, and what it wrote
"""

from __future__ import annotations

import enum
import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from leakscale_sandbox.verdicts import Limits, Verdict

__all__ = [
    "GREETING_HEADER",
    "JOB_BYTES_MAX",
    "JOB_HEADER",
    "PART_LENGTH",
    "PROTOCOL_VERSION",
    "RECORD",
    "RESULT_BYTES_MAX",
    "RESULT_HEADER",
    "DomainCode",
    "Ending",
    "JobHeader",
    "ResultHeader",
    "WireError",
    "decode_records",
    "encode_greeting",
    "encode_job",
    "encode_record",
    "greeting_size",
]

PROTOCOL_VERSION = 2
JOB_BYTES_MAX = 8 << 20
RESULT_BYTES_MAX = 1 << 20
GREETING_BYTES_MAX = 16 << 10
PART_COUNT_MAX = 64
DETAIL_BYTES_MAX = 200

_VERDICTS = tuple(Verdict)

JOB_MAGIC = b"LSJ1"
RESULT_MAGIC = b"LSR1"
GREETING_MAGIC = b"LSG1"

JOB_HEADER = struct.Struct("<4sBBBBIIIIIIII")
RESULT_HEADER = struct.Struct("<4sBBBBIIIII")
GREETING_HEADER = struct.Struct("<4sI")
RECORD = struct.Struct("<BBI")
PART_LENGTH = struct.Struct("<I")


class WireError(ValueError):
    """Bytes that no honest peer sends."""


class DomainCode(enum.IntEnum):
    """Language of a job, on the wire."""

    SQL = 1
    PYTHON = 2


class Ending(enum.IntEnum):
    """How a process ended, as PID 1 saw it; the process itself has no say in it."""

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
        if not all(0 < count <= PART_COUNT_MAX for count in (fixtures, programs)) or ordered > 1:
            raise WireError("a job header does not parse")
        wall_ms, *others = numbers
        try:
            limits = Limits(wall_ms / 1000, *others)
            return cls(sequence, DomainCode(domain), bool(ordered), fixtures, programs, payload, limits)
        except ValueError as error:
            raise WireError(str(error)) from None


@dataclass(frozen=True, slots=True)
class ResultHeader:
    """The fixed part of a result frame: the ending as PID 1 saw it, and how many bytes follow."""

    ending: Ending
    code: int
    slot: int
    """Place in the job of the process's first program."""
    program_count: int
    """How many programs the process ran: this one and those that follow it."""
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
            self.program_count,
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
        magic, ending, code, slot, program_count, sequence, body, wall, cpu, resident = RESULT_HEADER.unpack(data)
        if magic != RESULT_MAGIC:
            raise WireError("a result frame starts with another magic")
        if ending >= len(Ending):
            raise WireError(f"ending {ending} does not exist")
        if body > RESULT_BYTES_MAX:
            raise WireError(f"a result of {body} bytes is larger than {RESULT_BYTES_MAX}")
        if not 0 < program_count <= PART_COUNT_MAX:
            raise WireError(f"a process runs 1 to {PART_COUNT_MAX} programs, not {program_count}")
        return cls(Ending(ending), code, slot, program_count, sequence, body, wall, cpu, resident)


def encode_greeting(facts: dict[str, object]) -> bytes:
    """Return the frame that a worker sends when it is ready."""
    body = json.dumps(facts, sort_keys=True, separators=(",", ":")).encode()
    return GREETING_HEADER.pack(GREETING_MAGIC, len(body)) + body


def greeting_size(header: bytes) -> int:
    """Return how many bytes of greeting follow its header.

    Raises:
        WireError: If this is not one.
    """
    magic, size = GREETING_HEADER.unpack(header)
    if magic != GREETING_MAGIC or size > GREETING_BYTES_MAX:
        raise WireError("not a greeting")
    return int(size)


def encode_job(
    fixtures: Sequence[bytes],
    programs: Sequence[bytes],
    *,
    sequence: int,
    domain: DomainCode,
    is_ordered: bool,
    limits: Limits,
) -> bytes:
    """Return a whole job frame: header, then each fixture and each program behind its length.

    Raises:
        WireError: If the job has too many parts or bytes.
    """
    payload = b"".join(PART_LENGTH.pack(len(part)) + part for part in (*fixtures, *programs))
    header = JobHeader(sequence, domain, is_ordered, len(fixtures), len(programs), len(payload), limits)
    return header.pack() + payload


def encode_record(verdict: Verdict, body: bytes) -> bytes:
    """Return one execution: verdict, length, then canonical bytes (RETURNED) or the detail in ASCII."""
    return RECORD.pack(_VERDICTS.index(verdict), 0, len(body)) + body


def decode_records(data: bytes, *, record_count: int) -> list[tuple[Verdict, bytes]]:
    """Return the executions that a process wrote.

    Args:
        data: Body of a result frame; hostile.
        record_count: Fixtures times programs; the body must hold exactly so many records and not one byte more.

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

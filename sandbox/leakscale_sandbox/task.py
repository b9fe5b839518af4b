"""What a program's process does: confine itself, run its programs on every fixture, write the records, end.

It starts where the worker's `main` left the supervisor, so the stack above a program holds nothing that a run of this
worker differs in from another: no clock reading, no number of a job, no other program.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from leakscale_sandbox.confinement import Confinement
from leakscale_sandbox.python_runner import Record, run_python
from leakscale_sandbox.sql_runner import RowOrders, run_sql
from leakscale_sandbox.verdicts import Limits, Verdict
from leakscale_sandbox.wire import RECORD, RESULT_BYTES_MAX, DomainCode, encode_record

__all__ = ["Part", "Task", "perform"]

_APART = 3
"""Exit status of a process whose programs must run apart."""


@dataclass(frozen=True, slots=True)
class Part:
    """Where one fixture or program lies in the job's memory file."""

    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Task:
    """Programs to run in one process."""

    domain: DomainCode
    is_ordered: bool
    limits: Limits
    payload: int
    """Descriptor of the job's memory file."""
    fixtures: tuple[Part, ...]
    programs: tuple[Part, ...]
    output: int
    """Descriptor of the memory file that takes the records."""


def perform(task: Task, *, confinement: Confinement, connection: sqlite3.Connection, row_orders: RowOrders) -> NoReturn:
    """Run a task and end. Whatever happens, the caller must not go on in this process."""
    try:
        confinement.apply(task.limits, kept=(task.payload, task.output))
        sources = [_read(task.payload, part).decode() for part in task.programs]
        fixtures = [_read(task.payload, part) for part in task.fixtures]
        # The other programs of the family stay out of reach from here on.
        os.close(task.payload)
        if task.domain is DomainCode.SQL:
            records = run_sql(
                connection, sources, fixtures, ordered=task.is_ordered, limits=task.limits, row_orders=row_orders
            )
        else:
            records = list(run_python(sources[0], fixtures, task.limits))
        if len(sources) > 1 and _must_run_apart(records):
            os._exit(_APART)
        os.pwrite(task.output, _bounded(records), 0)
        os._exit(0)
    finally:
        os._exit(1)


def _read(payload: int, part: Part) -> bytes:
    return os.pread(payload, part.length, part.offset)


def _must_run_apart(records: Sequence[Record]) -> bool:
    """Tell whether one program may have left less memory, or less room in the frame, to another."""
    byte_count = sum(len(body) + RECORD.size for _, body in records)
    return byte_count > RESULT_BYTES_MAX or any(verdict is Verdict.MEMORY_LIMIT for verdict, _ in records)


def _bounded(records: Sequence[Record]) -> bytes:
    """Join records into one body. If they do not fit a frame, none counts: which came first must make no difference."""
    body = b"".join(encode_record(verdict, written) for verdict, written in records)
    if len(body) <= RESULT_BYTES_MAX:
        return body
    return encode_record(Verdict.OUTPUT_LIMIT, b"all values together") * len(records)

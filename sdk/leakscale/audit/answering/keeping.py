"""Work in batches, each kept in a journal as it ends, so that what was interrupted goes on where it was."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from leakscale.errors import IntegrityError
from leakscale.inference.journal import Journal
from leakscale.inference.lines import read_records

__all__ = ["kept_records", "kept_results"]

_MEND: Final = "delete it and answer again"


class _Keyed(Protocol):
    @property
    def key(self) -> Hashable:
        """What tells it from every other of the run."""


class _Record(_Keyed, Protocol):
    def to_json(self) -> dict[str, Any]:
        """Return the fields of a line."""


Item = TypeVar("Item", bound=_Keyed)
Record = TypeVar("Record", bound=_Record)


def kept_results(
    log: Path,
    header: Mapping[str, Any],
    batches: Iterable[Sequence[Item]],
    work: Callable[[Sequence[Item]], Iterable[Record]],
    read: Callable[[Mapping[str, Any]], Record],
    *,
    progress: Callable[[int], None],
) -> dict[Hashable, Record]:
    """Return the result of every item by its key, and work on the batches of which one is missing.

    A batch is worked on whole, because what stands beside an item can move the last bits of its result; of a batch that
    a kill tore, the results that were kept stay.

    Args:
        log: The journal.
        header: Everything that decides the results.
        batches: Every item, in the batches that every run makes.
        work: Gives the results of a batch, in its order.
        read: Reads a line.
        progress: Told before the first batch and after each how many results there are.

    Raises:
        ConflictError: If the journal was begun by a run with another header, or another process has it open.
        IntegrityError: If a line is damaged, or there twice, or of an item that is not among these; the last one, torn
            by a kill, is dropped.
        StorageFullError: If the disk is full; what was kept stays.
    """
    rounds = [list(batch) for batch in batches]
    expected = {item.key for batch in rounds for item in batch}

    def read_once(fields: Mapping[str, Any]) -> Record:
        record = read(fields)
        if record.key not in expected:
            raise IntegrityError(f"is of {record.key!r:.80}, which is not asked here or there twice")
        expected.discard(record.key)
        return record

    journal = Journal(log, header, mend=_MEND, is_stamped=True)
    try:
        found: dict[Hashable, Record] = {record.key: record for record in kept_records(log, read_once)}
        progress(len(found))
        for batch in rounds:
            if any(item.key not in found for item in batch):
                for record in work(batch):
                    if record.key not in found:
                        found[record.key] = record
                        journal.append(record.to_json())
                journal.commit()
            progress(len(found))
    finally:
        journal.close()
    return found


def kept_records(log: Path, read: Callable[[Mapping[str, Any]], Record]) -> list[Record]:
    """Return what a journal holds, in the order in which it was kept.

    Raises:
        IntegrityError: If a line is damaged.
    """
    return list(read_records(log, read, mend=_MEND, is_stamped=True))

"""Append-only log of the distributions of a bank: what was computed stays computed, whatever happens next.

One JSON object a line. The first line names everything that decides the numbers; a log is continued only by a run that
agrees with it. Lines reach the disk in groups, and a line that a kill tore in the middle is dropped, so that a family
is either in the log whole or computed again.

Does not guard against somebody who edits the log: results are believed because the server scores them, not because of
this file.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from leakscale.adaptation.storage import full_disk_told_apart
from leakscale.errors import ConflictError, IntegrityError

__all__ = ["ChoiceLog", "LoggedChoice"]

_FORMAT: Final = "leakscale-choice-log-v1"
_SYNC_LINE_COUNT: Final = 16
"""Lines a group: a kill costs at most as many families, an fsync for each would cost more than a small model does."""


@dataclass(frozen=True, slots=True)
class LoggedChoice:
    """The distribution of one family, as the log holds it."""

    family_id: str
    ring: str
    tokens: str
    """Hex SHA-256 of the token ids of prompt and answers: the question that was answered."""
    guided: tuple[float, ...]
    """Probability of each candidate under guided decoding, in display order."""
    unconstrained: tuple[float, ...]
    """Log-probability of each whole answer with nothing forced, in nats."""


class ChoiceLog:
    """The log of one bank, open for appending by one process.

    Raises:
        ConflictError: If another process has it open, or it was begun by a run with another identity.
        IntegrityError: If a line other than a torn last one cannot be read, or a family is in it twice.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any]) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a+b", buffering=0)  # a line is written at once, or torn
        self.choices: dict[tuple[str, str], LoggedChoice] = {}
        """By family id and ring."""
        self._unsynced = 0
        try:
            self._lock()
            self._recover({"format": _FORMAT, **identity})
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def append(self, choice: LoggedChoice) -> None:
        """Add a family; it is durable at the latest when the log is closed."""
        fields = {name: getattr(choice, name) for name in LoggedChoice.__slots__}
        self._write_line(fields)
        self.choices[choice.family_id, choice.ring] = choice
        self._unsynced += 1
        if self._unsynced >= _SYNC_LINE_COUNT:
            self._sync()

    def close(self) -> None:
        """Make every line durable and let go of the file."""
        if not self._file.closed:
            self._sync()
            self._file.close()

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ConflictError(f"log '{self._path}' is being written by another run; wait for it to end") from error

    def _recover(self, header: dict[str, Any]) -> None:
        """Read what is there, cut off a torn last line, and begin the log if it is empty."""
        self._file.seek(0)
        content = self._file.read()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            self._file.truncate(len(whole))
        lines = whole.splitlines()
        if not lines:
            self._write_line(header)
            self._sync()
            return
        self._check_header(self._parse(lines[0], 1), json.loads(json.dumps(header)))
        for number, line in enumerate(lines[1:], start=2):
            self._admit(self._parse(line, number), number)

    def _check_header(self, found: dict[str, Any], wanted: dict[str, Any]) -> None:
        differing = sorted(name for name in {*found, *wanted} if found.get(name) != wanted.get(name))
        if differing:
            changes = ", ".join(
                f"{name} {_short(found.get(name))}, now {_short(wanted.get(name))}" for name in differing
            )
            raise ConflictError(
                f"log '{self._path}' was begun by another run ({changes}); choose another log, or delete this one"
            )

    def _admit(self, fields: dict[str, Any], number: int) -> None:
        try:
            choice = LoggedChoice(
                family_id=fields["family_id"],
                ring=fields["ring"],
                tokens=fields["tokens"],
                guided=tuple(fields["guided"]),
                unconstrained=tuple(fields["unconstrained"]),
            )
        except (KeyError, TypeError) as error:
            raise self._damage(number, "is not a result") from error
        if (choice.family_id, choice.ring) in self.choices:
            raise self._damage(number, f"answers family '{choice.family_id}' a second time")
        self.choices[choice.family_id, choice.ring] = choice

    def _parse(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            value = json.loads(line)
        except ValueError as error:
            raise self._damage(number, "is not JSON") from error
        if not isinstance(value, dict):
            raise self._damage(number, "is not a JSON object")
        return value

    def _damage(self, number: int, what: str) -> IntegrityError:
        return IntegrityError(f"log '{self._path}' line {number} {what}; delete the log and answer the bank again")

    def _write_line(self, fields: Mapping[str, Any]) -> None:
        line = json.dumps(fields, sort_keys=True, separators=(",", ":"), allow_nan=False).encode() + b"\n"
        with full_disk_told_apart(self._path):
            while line:  # a disk with some room left takes a part first
                line = line[self._file.write(line) :]

    def _sync(self) -> None:
        with full_disk_told_apart(self._path):
            os.fsync(self._file.fileno())
        self._unsynced = 0


def _short(value: object) -> str:
    text = "none" if value is None else str(value)
    return text[:12]

"""Append-only files of one JSON object a line: what was written stays written, whatever happens next.

The first line names everything that decides the others; a journal is continued only by a run that agrees with it. A
line that a kill tore in the middle is dropped, so that a line is there whole or not at all.

Does not guard against somebody who edits a journal: results are believed because the server scores them and the binding
is checked, not because of this file.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from leakscale.errors import ConflictError, StorageFullError
from leakscale.inference.lines import json_line, read_header, stamped_line
from leakscale.reading import parse_json

__all__ = ["Journal"]

_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class Journal:
    """One journal, open for appending by one process; lines are held until `commit`.

    Args:
        path: Where it is, or goes.
        header: Its first line.
        mend: What to do about a damaged file of this kind, for messages.
        is_stamped: Whether lines carry a stamp; the header always does.

    Raises:
        ConflictError: If another process has it open, or it was begun by a run with another header.
        IntegrityError: If its first line cannot be read.
        StorageFullError: If the disk is full; every committed line is kept.
    """

    def __init__(self, path: Path, header: Mapping[str, Any], *, mend: str, is_stamped: bool) -> None:
        self.path = path
        self._header, self._mend = header, mend
        self._line = stamped_line if is_stamped else json_line
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a+b", buffering=0)
        self._held: list[bytes] = []
        try:
            self._lock()
            self._recover()
        except BaseException:
            self._file.close()
            raise

    @property
    def held_count(self) -> int:
        """Lines that are not on disk yet."""
        return len(self._held)

    def append(self, fields: Mapping[str, Any]) -> None:
        """Hold a line for the next commit."""
        self._held.append(self._line(fields))

    def commit(self) -> None:
        """Write what is held and make it durable; a kill before this loses the held lines and nothing else."""
        if self._held:
            self._write(b"".join(self._held))
            self._held.clear()
            self._sync()

    def close(self) -> None:
        """Let go of the file; held lines are not written."""
        self._file.close()

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ConflictError(f"'{self.path}' is being written by another run; wait for it to end") from error

    def _recover(self) -> None:
        """Cut off a torn last line, and begin the journal if it is empty; refuse that of another run."""
        size = _whole_size(self._file.fileno())
        if size < os.fstat(self._file.fileno()).st_size:
            self._file.truncate(size)
        if size == 0:
            self._write(stamped_line(self._header))
            self._sync()
            return
        found, wanted = read_header(self.path, mend=self._mend), parse_json(json_line(self._header))
        differing = sorted(name for name in {*found, *wanted} if found.get(name) != wanted.get(name))
        if differing:
            changes = ", ".join(_change(name, found.get(name), wanted.get(name)) for name in differing)
            raise ConflictError(
                f"'{self.path}' was begun by another run ({changes}); choose another place, or delete this one"
            )

    def _write(self, content: bytes) -> None:
        try:
            while content:  # a disk with some room left takes a part first
                content = content[self._file.write(content) :]
        except OSError as error:
            raise self._told_apart(error) from error

    def _sync(self) -> None:
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._told_apart(error) from error

    def _told_apart(self, error: OSError) -> Exception:
        if error.errno not in _NO_ROOM:
            return error
        return StorageFullError(
            f"no room left to write '{self.path}'; free some space and run the same command again, it goes on from here"
        )


def _whole_size(descriptor: int, *, block_bytes: int = 1 << 16) -> int:
    """Return the size up to and with the last newline, read from the end."""
    end = os.fstat(descriptor).st_size
    while end > 0:
        start = max(0, end - block_bytes)
        at = os.pread(descriptor, end - start, start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end = start
    return 0


def _change(name: str, found: object, wanted: object) -> str:
    if isinstance(found, dict) and isinstance(wanted, dict):
        inner = sorted(key for key in {*found, *wanted} if found.get(key) != wanted.get(key))
        return ", ".join(_change(f"{name}.{key}", found.get(key), wanted.get(key)) for key in inner)
    return f"{name} {_short(found)}, now {_short(wanted)}"


def _short(value: object) -> str:
    return "none" if value is None else str(value)[:12]

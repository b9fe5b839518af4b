"""Files that are there whole or not at all, and folders that one process holds at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from leakscale.errors import ConflictError

__all__ = ["held", "replacing", "write_whole"]


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Write a file so that a crash leaves the old one or the new one, and the new one is on the disk.

    What the block wrote takes the file's name when the block ends; if it raises, the name is left alone.
    """
    partial = path.with_name(f"{path.name}.partial")
    with partial.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file by `replacing`, and make its folder if it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(content)


@contextmanager
def held(path: Path, *, subject: str, advice: str) -> Iterator[None]:
    """Hold a lock file against every other process for as long as the block runs.

    Args:
        path: The lock file; its folder exists. It holds the number of the process that has it.
        subject: What is held, for the message.
        advice: What to do when another process holds it.

    Raises:
        ConflictError: If another process holds it.
    """
    with path.open("a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.seek(0)
            holder = lock.read().strip() or "unknown"
            raise ConflictError(f"{subject} is in use by process {holder}; {advice}") from error
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        yield

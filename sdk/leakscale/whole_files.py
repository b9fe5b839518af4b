"""Files that are there whole or not at all, and folders that one process holds at a time."""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from leakscale.errors import ConflictError

__all__ = [
    "WORKSHOP_LOCK",
    "growing_folder",
    "held",
    "load_or_create",
    "replacing",
    "sync",
    "workshop",
    "write_folder",
    "write_whole",
]

WORKSHOP_LOCK: Final = "leakscale.lock"
"""In a folder of unfinished work: the mark by which it is known, and what one process holds at a time."""


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Write a file so that a crash leaves the old one or the new one, and the new one is on the disk.

    What the block wrote takes the file's name when the block ends; if it raises, the name is left alone.
    """
    partial = path.with_name(f"{path.name}.partial")
    with os.fdopen(_opened(partial, os.O_WRONLY), "wb") as file:
        file.truncate()
        yield file
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file by `replacing`, and make its folder if it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(content)


def sync(path: Path) -> None:
    """Wait until a file or a folder, as it is now, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def workshop(folder: Path, *, advice: str = "wait for it") -> Iterator[Path]:
    """Hold a folder of unfinished work, which goes when the block ends and stays when it raises or is killed.

    What an earlier call left in it is there again. A folder that holds something and was not made here is not touched.

    Args:
        folder: A name that is free, what an earlier call left, or an empty folder.
        advice: What to do when another process holds it.

    Raises:
        ConflictError: If it is anything else, or another process holds it.
    """
    is_folder = folder.is_dir() and not folder.is_symlink()
    if is_folder and not (folder / WORKSHOP_LOCK).is_file() and any(folder.iterdir()):
        raise ConflictError(
            f"'{folder}' is needed for unfinished work, and holds files that are none of it; move it away"
        )
    if not is_folder and (folder.exists() or folder.is_symlink()):
        raise ConflictError(f"'{folder}' is needed for unfinished work, and is no folder; move it away")
    folder.mkdir(parents=True, exist_ok=True)
    with held(folder / WORKSHOP_LOCK, subject=f"'{folder}'", advice=advice):
        yield folder
        shutil.rmtree(folder)


@contextmanager
def growing_folder(target: Path) -> Iterator[Path]:
    """Yield an empty folder in which `target` is made; the block gives it its name, last of all.

    It is in `<target>.partial`, a `workshop`. What a killed call made is made anew.

    Raises:
        ConflictError: As `workshop`.
    """
    with workshop(target.with_name(f"{target.name}.partial")) as work:
        fresh = work / target.name
        if fresh.is_dir():
            shutil.rmtree(fresh)
        fresh.mkdir()
        yield fresh


def write_folder(folder: Path, files: Mapping[str, bytes], *, subject: str) -> tuple[Path, ...]:
    """Write files into a new folder, which appears whole or not at all; return their paths.

    Args:
        folder: A name that is free, or an empty folder. One that holds the same files already is left as it is.
        files: Content by name.
        subject: What the files are, for the message.

    Raises:
        ConflictError: If the folder or the one for unfinished work holds something else; nothing is overwritten.
    """
    written = tuple(folder / name for name in files)
    if folder.is_dir() and {path.name: path.is_file() and path.read_bytes() for path in folder.iterdir()} == files:
        return written
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConflictError(
            f"'{folder}' holds something else than {subject}, and writing them overwrites nothing; name another folder"
        )
    with growing_folder(folder) as fresh:
        for name, content in files.items():
            (fresh / name).write_bytes(content)
        if folder.is_dir():
            folder.rmdir()
        fresh.replace(folder)
    return written


def load_or_create(path: Path, make: Callable[[], bytes]) -> bytes:
    """Return what is in a file of secrets, or make it and write it there with mode 0600.

    The file appears whole or not at all: half a key, left by a full disk or a kill, would be believed for ever.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        pass
    partial = path.with_name(f"{path.name}.{secrets.token_hex(4)}.partial")
    try:
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(make())
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path.read_bytes()


@contextmanager
def held(path: Path, *, subject: str, advice: str) -> Iterator[None]:
    """Hold a lock file against every other process for as long as the block runs.

    Args:
        path: The lock file; its folder exists. It holds the number of the process that has it.
        subject: What is held, for the message.
        advice: What to do when another process holds it.

    Raises:
        ConflictError: If another process holds it, or it is no regular file.
    """
    with os.fdopen(_opened(path, os.O_RDWR), "r+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.seek(0)
            holder = lock.read().strip() or "unknown"
            raise ConflictError(f"{subject} is in use by process {holder}; {advice}") from error
        lock.seek(0)
        lock.truncate()
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        yield


def _opened(path: Path, access: int) -> int:
    """Open a file of ours for writing, and make it if it is not there, but never what a link or a pipe leads to.

    The folder may come from somebody else: a link under one of our names would have us write into any file of ours.
    """
    try:
        descriptor = os.open(path, access | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno not in {errno.ELOOP, errno.ENXIO}:
            raise
    else:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return descriptor
        os.close(descriptor)
    raise ConflictError(f"'{path}' is no regular file, and a file of ours belongs there; take it away")

"""Tell a full disk from every other failure: it loses nothing, and the user can mend it."""

from __future__ import annotations

import contextlib
import errno
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from safetensors import SafetensorError

from leakscale.errors import StorageFullError

__all__ = ["full_disk_told_apart"]

_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_FREE_BYTES_MIN: Final = 1 << 20


@contextlib.contextmanager
def full_disk_told_apart(path: Path) -> Iterator[None]:
    """Raise StorageFullError when writing under `path` fails for want of room; let every other failure through.

    torch and safetensors report a full disk as errors of their own that carry no errno, so for those the free space
    decides.

    Raises:
        StorageFullError: The message says that a rerun goes on at the last checkpoint, where there is one.
    """
    try:
        yield
    except (OSError, RuntimeError, SafetensorError) as error:
        if getattr(error, "errno", None) in _NO_ROOM or _free_bytes(path) < _FREE_BYTES_MIN:
            raise StorageFullError(
                f"no room left to write '{path}'; free some space and run the same command again, it goes on at "
                "its last checkpoint"
            ) from error
        raise


def _free_bytes(path: Path) -> int:
    """Return the room on the disk of the nearest folder that exists."""
    return shutil.disk_usage(next(folder for folder in path.absolute().parents if folder.is_dir())).free

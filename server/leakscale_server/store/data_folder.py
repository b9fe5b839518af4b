"""The data folder of a server: whose it is, in which format, and that one server holds it."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from leakscale.whole_files import load_or_create
from leakscale_server.config import ConfigError

__all__ = ["FORMAT", "claim", "require_format", "sole_owner"]

FORMAT: Final = 2
"""Of registry, vault and ledger together. 1, which had no `version` file, kept its vault in the clear."""
_IGNORE: Final = ".gitignore"
_VERSION: Final = "version"
_LOCK: Final = "lock"


def claim(folder: Path) -> None:
    """Make the data folder, or take one that is empty or a server's; whose folder else it is loses nothing.

    Raises:
        ConfigError: If it cannot be made, holds other files, or has another format.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        reason = "it is a file" if folder.is_file() else error.strerror
        raise ConfigError(f"--data-dir {folder}: no folder can be made there ({reason}); choose another") from error
    # A first start that a full disk or a kill ended may have left half of the version, or the list of what git ignores.
    foreign = [path for path in folder.iterdir() if path.name != _IGNORE and not path.name.startswith(f"{_VERSION}.")]
    if foreign and not any((folder / name).exists() for name in (_VERSION, _LOCK)):
        raise ConfigError(f"--data-dir {folder}: the folder holds other files; choose an empty one or a new name")
    if not foreign:
        load_or_create(folder / _VERSION, f"{FORMAT}\n".encode)
    require_format(folder)
    folder.chmod(0o700)
    # It holds a token, a signing key and a vault, and may lie in somebody's checkout.
    (folder / _IGNORE).write_text("*\n", encoding="utf-8")


def require_format(folder: Path) -> None:
    """Refuse a data folder that this version cannot read; nothing is migrated behind anybody's back.

    Raises:
        ConfigError: With folder, format and next step.
    """
    path = folder / _VERSION
    found = path.read_text(encoding="utf-8", errors="replace").strip() if path.exists() else "1"
    if found != str(FORMAT):
        raise ConfigError(
            f"--data-dir {folder}: the folder has format {found[:20]!r} and this version reads {FORMAT}; choose a new "
            "folder, or serve this one with the version that wrote it"
        )


@contextmanager
def sole_owner(folder: Path) -> Iterator[None]:
    """Hold the data folder: two servers on one registry would each believe in their own ledger.

    Raises:
        ConfigError: If another server holds it.
    """
    with (folder / _LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ConfigError(
                f"--data-dir {folder}: another server holds it; stop that one or choose another"
            ) from error
        yield

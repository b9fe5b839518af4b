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
_BEFORE_REGISTRY: Final = ("signing.key", "vault.db")
_AFTER_REGISTRY: Final = ("token", "editions")
"""A first start makes the files in this order."""
_REPLICA: Final = " replica"
"""Behind the format in a folder that holds the tokens of a replica and nothing else."""


def claim(folder: Path, *, is_replica: bool = False) -> None:
    """Make the data folder, or take one that is empty or a server's; whose folder else it is loses nothing.

    Raises:
        ConfigError: If it cannot be made, holds other files, has another format, is a replica's and not a server's or
            the other way round, or has lost a file.
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
        load_or_create(folder / _VERSION, (f"{FORMAT}{_REPLICA}\n" if is_replica else f"{FORMAT}\n").encode)
    _require_kind(folder, is_replica=is_replica)
    if not is_replica:
        _require_whole(folder)
    folder.chmod(0o700)
    # It holds a token, a signing key and a vault, and may lie in somebody's checkout.
    (folder / _IGNORE).write_text("*\n", encoding="utf-8")


def require_format(folder: Path) -> None:
    """Refuse a data folder that this version cannot read; nothing is migrated behind anybody's back.

    Raises:
        ConfigError: With folder, format and next step.
    """
    found = _version(folder).removesuffix(_REPLICA)
    if found != str(FORMAT):
        raise ConfigError(
            f"--data-dir {folder}: the folder has format {found[:20]!r} and this version reads {FORMAT}; choose a new "
            "folder, or serve this one with the version that wrote it"
        )


def _require_kind(folder: Path, *, is_replica: bool) -> None:
    require_format(folder)
    if _version(folder).endswith(_REPLICA) != is_replica:
        it_is, other = ("a server's", "replica") if is_replica else ("a replica's", "server")
        raise ConfigError(f"--data-dir {folder}: the folder is {it_is}; choose a new one for the {other}")


def _require_whole(folder: Path) -> None:
    """Refuse a folder that lost a file, in place of which a new one would begin another history."""
    registry = folder / "registry.db"
    is_begun = registry.exists() and registry.stat().st_size > 0
    lost = [name for name in _BEFORE_REGISTRY if is_begun and not (folder / name).exists()]
    if not is_begun and any((folder / name).exists() for name in _AFTER_REGISTRY):
        lost = [registry.name]
    if lost:
        raise ConfigError(
            f"--data-dir {folder}: it lost {' and '.join(lost)}, and a new one does not go with what is left; restore "
            "the folder from a copy, or choose a new one"
        )


def _version(folder: Path) -> str:
    path = folder / _VERSION
    return path.read_text(encoding="utf-8", errors="replace").strip() if path.exists() else "1"


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

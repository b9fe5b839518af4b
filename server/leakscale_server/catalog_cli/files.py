"""Find author files by the words of a command line."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from leakscale.resources import catalog_folder
from leakscale_server.sandbox_cli.pool import InputError

__all__ = ["find_files", "find_shape"]


def find_files(paths: Sequence[Path]) -> list[Path]:
    """Return shape files, those of a folder in the order of their names.

    Raises:
        InputError: If a path cannot be used, or a folder holds none.
    """
    files: list[Path] = []
    for path in paths:
        _require_usable(path)
        found = sorted(path.rglob("*.toml")) if path.is_dir() else [path]
        if not found:
            raise InputError(f"folder '{path}' holds no .toml file; pass a shape file or a folder of them")
        files += found
    return list(dict.fromkeys(files))


def _require_usable(path: Path) -> None:
    """Refuse what is no file and no folder, and say what it is instead.

    Raises:
        InputError: With the path and the reason.
    """
    if path.is_symlink() and not path.exists():
        raise InputError(f"'{path}' is a link in a circle or to nothing; pass a shape file or a folder of them")
    if not path.exists():
        raise InputError(f"'{path}' does not exist; pass a shape file or a folder of them")
    if not path.is_dir() and not path.is_file():
        raise InputError(f"'{path}' is not a regular file; pass a shape file or a folder of them")


def find_shape(name: str) -> Path:
    """Return the file of a shape: a path, or the id of one that ships.

    Raises:
        InputError: If there is neither.
    """
    path = Path(name)
    if path.is_dir():
        raise InputError(f"'{path}' is a folder; pass one shape file, or the id of a shape that ships")
    if path.exists() or path.is_symlink():
        _require_usable(path)
        return path
    domain, _, structure = name.partition("-")
    folder = catalog_folder()
    shipped = folder / domain / f"{structure}.toml"
    if structure.replace("-", "").isalnum() and shipped.is_file():
        return shipped
    known = sorted(f"{each.parent.name}-{each.stem}" for each in folder.glob("*/*.toml"))
    near = difflib.get_close_matches(name, known, n=3) or [f"{known[0]} to {known[-1]}, one for each file in {folder}"]
    raise InputError(f"'{name}' is neither a file nor a shape that ships; there is {', '.join(near)}")

"""Files that ship with the package: the catalog of shapes and the studies."""

from __future__ import annotations

from pathlib import Path

from leakscale.errors import NotFoundError

__all__ = ["catalog_folder", "studies_folder"]


def catalog_folder() -> Path:
    """Return the folder with `sql/*.toml` and `python/*.toml`."""
    return _folder("catalogs")


def studies_folder() -> Path:
    """Return the folder with the studies that ship."""
    return _folder("studies")


def _folder(name: str) -> Path:
    here = Path(__file__).resolve()
    # In a wheel they lie inside the package; in a checkout at its root, two folders up.
    for folder in (here.parent / "_data" / name, here.parents[2] / name):
        if folder.is_dir():
            return folder
    raise NotFoundError(f"the folder '{name}' that ships with leakscale is missing; install the package again")

"""What a study keeps beside its tree, and has to be what the tree has. Needs no extra: reports ask it too."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from leakscale.reading import parse_json

__all__ = ["differing_copy"]

_COPIES: Final[Mapping[str, str]] = {
    "analysis/disclosure.json": "audits/disclosure.json",
    "provenance.json": "analysis/provenance.json",
    "summary.json": "analysis/summary.json",
}
"""Name in the tree by the name in the study."""


def differing_copy(study: Path, tree: Path) -> str:
    """Return the name of a file of a study that says something else than the tree does; empty if there is none.

    Args:
        study: Its directory.
        tree: Its tree of evidence; a file that one of the two lacks is not compared.
    """
    for name, own in _COPIES.items():
        beside, original = study / name, tree / own
        if beside.is_file() and original.is_file() and not _is_same(beside, original):
            return name
    return ""


def _is_same(one: Path, other: Path) -> bool:
    try:
        return bool(parse_json(one.read_bytes()) == parse_json(other.read_bytes()))
    except ValueError:
        return False

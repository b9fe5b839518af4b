"""Write the file of a frozen edition, and read it quickly. What is in it: `leakscale.edition_files`."""

from __future__ import annotations

import bisect
import functools
import hashlib
import math
import os
import sqlite3
import time
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from leakscale.commitments import public_bytes
from leakscale.edition_files import FORMAT, Atom, EditionFacts, open_edition_file
from leakscale.models import Family, Ring
from leakscale.whole_files import sync
from leakscale_server.store.tables import Database

__all__ = ["FORMS_KEPT_MAX", "LOOK_AGAIN_S", "Forms", "FrozenFamily", "SeenFile", "write_edition_file"]


FORMS_KEPT_MAX: Final = 12
"""How many editions and rings are kept in memory; a full edition of 2,048 families takes about 7 MB a ring."""
LOOK_AGAIN_S: Final = 0.1
"""How long a file that was there is taken to be."""
_Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class FrozenFamily:
    """A public family with the certificate that travels with it."""

    rings: tuple[Family, Family, Family]
    """R0, R1 and R2."""
    certificate_payload: bytes
    certificate_signature: bytes


@dataclass(frozen=True, slots=True)
class SeenFile:
    """An edition file as it lay there at one moment."""

    path: Path
    stamp: _Stamp | None
    """Inode, bytes and time of the last change, which tell it from a file that was put in its place; None: none was
    there."""

    _looked_at_s: list[float] = field(default_factory=lambda: [-math.inf], compare=False, repr=False)
    """When it was last seen there, of `time.monotonic`."""

    @classmethod
    def at(cls, path: Path) -> Self:
        """Look at a file."""
        return cls(path, _stamp(path))

    def is_there(self) -> bool:
        """Tell whether it still lies there, or did a tenth of a second ago.

        Not each time: a call of the operating system, however short, lets other threads in first.
        """
        now_s = time.monotonic()
        if now_s - self._looked_at_s[0] < LOOK_AGAIN_S:
            return True
        is_there = _stamp(self.path) == self.stamp
        if is_there:
            self._looked_at_s[0] = now_s
        return is_there

    @property
    def digest(self) -> str:
        """SHA-256 of the file in hex, or nothing if there is no such file; a file is read once."""
        return "" if self.stamp is None else _digest_of(self)

    def forms(self, ring: Ring) -> Forms:
        """Return every public family in one ring; a file is read once.

        Raises:
            IntegrityError: If it is no file of a frozen edition.
        """
        return _forms_of(self, ring)


@dataclass(frozen=True, slots=True)
class Forms:
    """Every family of an edition in one ring."""

    file: SeenFile
    """What they were read from."""
    ids: tuple[str, ...]
    """In order."""
    by_id: Mapping[str, Family]

    def hold(self) -> bool:
        """Tell whether the file is still the one that they were read from."""
        return self.file.is_there()

    def page(self, *, after: str, limit: int) -> list[Family]:
        """Return the families whose ids come after one, at most `limit`, in order."""
        start = bisect.bisect_right(self.ids, after)
        return [self.by_id[family_id] for family_id in self.ids[start : start + limit]]


def _stamp(path: Path) -> _Stamp | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - every look-up asks, and `Path.stat` costs half as much again
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def write_edition_file(
    path: Path, *, facts: EditionFacts, atoms: Iterable[Atom], families: Iterable[FrozenFamily]
) -> str:
    """Write the file in one step (temporary name, then rename), read-only, and return its SHA-256 in hex.

    A file that a crash left behind under the temporary name is replaced.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    with closing(sqlite3.connect(partial)) as connection:
        database = Database(connection)
        database.table("meta").insert_all(
            ({"name": name, "value": value} for name, value in sorted(_meta(facts).items())), pk="name"
        )
        database.table("atoms").insert_all(map(_atom_row, atoms), pk=("domain", "shape_id", "condition"))
        certified = list(families)
        database.table("families").insert_all(map(_family_row, certified), pk="family_id")
        database.table("forms").insert_all(
            (_form_row(family) for frozen in certified for family in frozen.rings), pk=("ring", "family_id")
        )
    partial.chmod(0o444)
    digest = hashlib.sha256(partial.read_bytes()).hexdigest()
    partial.replace(path)
    sync(path.parent)
    return digest


@functools.lru_cache(maxsize=256)
def _digest_of(file: SeenFile) -> str:
    return hashlib.sha256(file.path.read_bytes()).hexdigest()


@functools.lru_cache(maxsize=FORMS_KEPT_MAX)
def _forms_of(file: SeenFile, ring: Ring) -> Forms:
    with open_edition_file(file.path) as opened:
        families = {family.family_id: family for family in opened.families(ring)}
    return Forms(file, tuple(families), families)


def _meta(facts: EditionFacts) -> dict[str, str]:
    return {
        "format": str(FORMAT),
        "edition_id": facts.edition_id,
        "kind": facts.kind.value,
        "families_per_cell": str(facts.families_per_cell),
        "family_count": str(facts.family_count),
        "commitment_root": facts.commitment_root.hex(),
        "certificates_digest": facts.certificates_digest.hex(),
    }


def _atom_row(atom: Atom) -> dict[str, str | int]:
    return {
        "domain": atom.domain.value,
        "shape_id": atom.shape_id,
        "condition": atom.condition.value,
        "family_count": atom.family_count,
    }


def _family_row(frozen: FrozenFamily) -> dict[str, str | bytes]:
    return {
        "family_id": frozen.rings[0].family_id,
        "certificate_payload": frozen.certificate_payload,
        "certificate_signature": frozen.certificate_signature,
    }


def _form_row(family: Family) -> dict[str, str | bytes]:
    return {"ring": family.ring.value, "family_id": family.family_id, "public": public_bytes(family)}

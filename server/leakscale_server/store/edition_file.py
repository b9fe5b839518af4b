"""Write the file of a frozen edition, and read it quickly. What is in it: `leakscale.edition_files`."""

from __future__ import annotations

import bisect
import functools
import hashlib
import os
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlite_utils import Database

from leakscale.commitments import public_bytes
from leakscale.edition_files import FORMAT, Atom, EditionFacts, open_edition_file
from leakscale.models import Family, Ring

__all__ = ["Forms", "FrozenFamily", "file_digest", "read_forms", "write_edition_file"]


@dataclass(frozen=True, slots=True)
class FrozenFamily:
    """A public family with the certificate that travels with it."""

    rings: tuple[Family, Family, Family]
    """R0, R1 and R2."""
    certificate_payload: bytes
    certificate_signature: bytes


@dataclass(frozen=True, slots=True)
class Forms:
    """Every family of an edition in one ring."""

    ids: tuple[str, ...]
    """In order."""
    by_id: Mapping[str, Family]

    def page(self, *, after: str, limit: int) -> list[Family]:
        """Return the families whose ids come after one, at most `limit`, in order."""
        start = bisect.bisect_right(self.ids, after)
        return [self.by_id[family_id] for family_id in self.ids[start : start + limit]]


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
    _sync_folder(path.parent)
    return digest


def file_digest(path: Path) -> str:
    """Return the SHA-256 of an edition file in hex, or nothing if there is no such file; a file is read once."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return ""
    return _digest_of(path, status.st_ino, status.st_size, status.st_mtime_ns)


def read_forms(path: Path, ring: Ring) -> Forms:
    """Return every public family in one ring; a file is read once.

    Raises:
        IntegrityError: If it is no file of a frozen edition.
    """
    status = path.stat()
    return _forms_of(path, ring, status.st_ino, status.st_size, status.st_mtime_ns)


@functools.lru_cache(maxsize=256)
def _digest_of(path: Path, _inode: int, _size: int, _mtime_ns: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@functools.lru_cache(maxsize=12)  # a full edition of 2,048 families takes about 7 MB a ring
def _forms_of(path: Path, ring: Ring, _inode: int, _size: int, _mtime_ns: int) -> Forms:
    with open_edition_file(path) as file:
        families = {family.family_id: family for family in file.families(ring)}
    return Forms(tuple(families), families)


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


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""A frozen edition: one immutable SQLite file with every family's public part in each ring, and its certificate."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlite_utils import Database

from leakscale.models import Candidate, Domain, Family, Ring

__all__ = ["FrozenFamily", "file_digest", "read_families", "write_edition_file"]


@dataclass(frozen=True, slots=True)
class FrozenFamily:
    """A public family with the certificate that travels with it."""

    rings: tuple[Family, Family, Family]
    """R0, R1 and R2."""
    certificate_payload: bytes
    certificate_signature: bytes


def write_edition_file(path: Path, *, meta: dict[str, str | int], families: Iterable[FrozenFamily]) -> str:
    """Write the file in one step (temporary name, then rename), read-only, and return its SHA-256 in hex.

    A file that a crash left behind under the temporary name is replaced.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    with closing(sqlite3.connect(partial)) as connection:
        database = Database(connection)
        database.table("meta").insert_all(
            ({"name": name, "value": str(value)} for name, value in sorted(meta.items())), pk="name"
        )
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


@functools.lru_cache(maxsize=256)
def _digest_of(path: Path, _inode: int, _size: int, _mtime_ns: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_families(path: Path, *, ring: Ring = Ring.R0, after: str = "", limit: int = 1_000_000) -> Sequence[Family]:
    """Return public families in one ring, in the order of their ids, those after `after`, at most `limit`."""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1&mode=ro", uri=True)
    try:
        rows = connection.execute(
            "SELECT public FROM forms WHERE ring = ? AND family_id > ? ORDER BY family_id LIMIT ?",
            (ring.value, after, limit),
        )
        return [_from_public(json.loads(public)) for (public,) in rows]
    finally:
        connection.close()


def _family_row(frozen: FrozenFamily) -> dict[str, str | bytes]:
    return {
        "family_id": frozen.rings[0].family_id,
        "certificate_payload": frozen.certificate_payload,
        "certificate_signature": frozen.certificate_signature,
    }


def _form_row(family: Family) -> dict[str, str]:
    public = {
        "family_id": family.family_id,
        "domain": family.domain.value,
        "shape_id": family.shape_id,
        "ring": family.ring.value,
        "task": family.task,
        "inputs": list(family.inputs),
        "key": family.key,
        "candidates": [[candidate.text, candidate.answer] for candidate in family.candidates],
    }
    return {
        "ring": family.ring.value,
        "family_id": family.family_id,
        "public": json.dumps(public, ensure_ascii=False),
    }


def _from_public(public: dict[str, object]) -> Family:
    fields = dict(public)
    first, second, third, fourth = (Candidate(text, answer) for text, answer in fields.pop("candidates"))  # type: ignore[attr-defined]
    return Family(
        family_id=str(fields["family_id"]),
        domain=Domain(str(fields["domain"])),
        shape_id=str(fields["shape_id"]),
        ring=Ring(str(fields["ring"])),
        task=str(fields["task"]),
        inputs=tuple(str(line) for line in fields["inputs"]),  # type: ignore[attr-defined]
        key=str(fields["key"]),
        candidates=(first, second, third, fourth),
    )


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

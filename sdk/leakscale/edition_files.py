"""The public part of a frozen edition: one SQLite file that nobody writes to any more.

| table | a row |
|---|---|
| `meta` | a fact about the edition: `format`, `edition_id`, `kind`, `commitment_root`, … |
| `atoms` | domain, shape and condition with the number of their families; which families they are stays private |
| `families` | a family with its certificate, an in-toto statement and its signature |
| `forms` | a family in one ring: the canonical JSON that its certificate names by SHA-256 |
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from leakscale.commitments import family_of
from leakscale.errors import IntegrityError
from leakscale.models import Condition, Domain, EditionKind, Family, Ring

__all__ = ["FORMAT", "Atom", "EditionFacts", "EditionFile", "FiledCertificate", "open_edition_file"]

FORMAT: Final = 2


@dataclass(frozen=True, slots=True)
class Atom:
    """The families of one domain, shape and condition: what cohorts are unions of."""

    domain: Domain
    shape_id: str
    condition: Condition
    family_count: int


@dataclass(frozen=True, slots=True)
class EditionFacts:
    """What the file says of the edition as a whole."""

    edition_id: str
    kind: EditionKind
    families_per_cell: int
    family_count: int
    commitment_root: bytes
    certificates_digest: bytes


@dataclass(frozen=True, slots=True)
class FiledCertificate:
    """The certificate of one family."""

    family_id: str
    payload: bytes
    """In-toto statement."""
    signature: bytes


class EditionFile:
    """A file of a frozen edition, open for reading. Made by `open_edition_file`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def facts(self) -> EditionFacts:
        """Return what it says of the edition as a whole."""
        meta = dict(self._connection.execute("SELECT name, value FROM meta"))
        if meta["format"] != str(FORMAT):
            raise ValueError(f"its format is {meta['format']}, this version reads {FORMAT}")
        return EditionFacts(
            edition_id=meta["edition_id"],
            kind=EditionKind(meta["kind"]),
            families_per_cell=int(meta["families_per_cell"]),
            family_count=int(meta["family_count"]),
            commitment_root=bytes.fromhex(meta["commitment_root"]),
            certificates_digest=bytes.fromhex(meta["certificates_digest"]),
        )

    def atoms(self) -> tuple[Atom, ...]:
        """Return the atoms, in the order of domain, shape and condition."""
        query = "SELECT domain, shape_id, condition, family_count FROM atoms ORDER BY domain, shape_id, condition"
        return tuple(
            Atom(Domain(domain), shape_id, Condition(condition), family_count)
            for domain, shape_id, condition, family_count in self._connection.execute(query)
        )

    def certificates(self) -> tuple[FiledCertificate, ...]:
        """Return the certificates, in the order of family ids."""
        query = (
            "SELECT family_id, CAST(certificate_payload AS BLOB), CAST(certificate_signature AS BLOB) "
            "FROM families ORDER BY family_id"
        )
        return tuple(FiledCertificate(*row) for row in self._connection.execute(query))

    def forms(self, ring: Ring) -> dict[str, bytes]:
        """Return the public bytes of every family in one ring by its id, in the order of ids."""
        query = "SELECT family_id, CAST(public AS BLOB) FROM forms WHERE ring = ? ORDER BY family_id"
        return dict(self._connection.execute(query, (ring.value,)))

    def families(self, ring: Ring) -> tuple[Family, ...]:
        """Return every public family in one ring, in the order of their ids."""
        return tuple(family_of(public) for public in self.forms(ring).values())


@contextmanager
def open_edition_file(path: Path) -> Iterator[EditionFile]:
    """Open the file of a frozen edition. It is never written to, not even by SQLite.

    Raises:
        IntegrityError: If it is none, or damaged; also out of the block.
    """
    try:
        uri = f"{path.absolute().as_uri()}?immutable=1&mode=ro"
        with closing(sqlite3.connect(uri, uri=True, check_same_thread=False)) as connection:
            yield EditionFile(connection)
    except (sqlite3.Error, ValueError, KeyError, TypeError) as error:
        raise IntegrityError(
            f"'{path.name}' is no file of a frozen edition, or damaged ({error}); fetch it again, or restore it from "
            "a copy"
        ) from error

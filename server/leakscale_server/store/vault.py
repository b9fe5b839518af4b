"""Private facts: seeds, associations, nonces, utilities. Only the scorer opens this file, and only it has the key.

Every row is sealed by itself with AES-256-GCM under a random nonce. What it belongs to (vault, table, edition, family)
is authenticated with it, so that a row put in another's place does not open. Sealed seeds are all of one length, and
so are associations, whatever they hold. Beside them lie the scorer's notes of what it did, which hold no secret, and
what it keeps of deposited audits: forms with right answers, which are padded, and which answers were right.

Does not guard against a row that was taken away, or a whole older copy: what the registry lists and the vault lacks is
noticed when it is asked for. Names of editions, families, experiments and audits, and when rows were written, are in
the clear.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from leakscale.digests import canonical_json
from leakscale.models import Condition
from leakscale_server.core.edition_keys import id_of
from leakscale_server.errors import IntegrityFailure
from leakscale_server.store.database import InsertOnlyDatabase, Table
from leakscale_server.store.vault_key import VaultError

__all__ = ["Association", "Vault"]

_TABLES: Final = (
    Table("head", {"name": str, "vault_id": bytes, "sealed": bytes}, ("name",)),
    Table("seeds", {"edition_id": str, "sealed": bytes}, ("edition_id",)),
    Table("notes", {"kind": str, "edition_id": str, "name": str, "sealed": bytes}, ("kind", "edition_id", "name")),
    Table("associations", {"edition_id": str, "family_id": str, "sealed": bytes}, ("edition_id", "family_id")),
    Table("audits", {"kind": str, "audit": str, "name": str, "sealed": bytes}, ("kind", "audit", "name")),
)
_HOLD_SOMETHING: Final = " UNION ".join(f"SELECT 1 FROM {table.name}" for table in _TABLES if table.name != "head")  # noqa: S608 - names are ours
_HEAD: Final = b"leakscale-vault"
_FORMAT: Final = 1
_ID_BYTES: Final = 16
_NONCE_BYTES: Final = 12
"""Random; 2^32 rows under one key keep the chance that two share one below 2^-32 (NIST SP 800-38D, 8.3)."""
_ASSOCIATION_BYTES: Final = 256
"""Length of an association before it is sealed: the number of digits of its counts must not show."""


@dataclass(frozen=True, slots=True)
class Association:
    """The private part of a certified family, with what its commitment binds."""

    key: str
    condition: Condition
    truth: int
    """Display index of the correct candidate, 0 to 3."""
    nonce: bytes
    fixture_count: int
    passed_counts: tuple[int, int, int, int]
    """Fixtures that each candidate passes, in display order."""
    attempt: int
    """How many draws of the fixtures came before."""

    def is_correct(self, choice: int) -> bool:
        """Tell whether the chosen candidate passed every fixture; a number past the four chose none."""
        return choice < len(self.passed_counts) and self.passed_counts[choice] == self.fixture_count


class Vault:
    """The private facts of one server. What was written first stays. Safe to use from several threads.

    Raises:
        VaultError: If the file is no vault, is damaged, or was sealed under another key.
    """

    def __init__(self, data_dir: Path, key: bytes) -> None:
        self._path = data_dir / "vault.db"
        self._cipher = AESGCM(key)
        try:
            self._database = InsertOnlyDatabase(self._path, _TABLES)
            self._vault_id = self._open_head()
        except sqlite3.OperationalError:
            raise  # a full disk, or a folder that cannot be written: nothing is wrong with the file
        except sqlite3.DatabaseError as error:
            raise VaultError(f"{self._path} is damaged or no vault ({error}); restore it from a copy") from error

    def fix_seed(self, edition_key: str, seed: bytes) -> bytes:
        """Store the private seed of an edition unless it has one, and return the one that stands."""
        self._database.add("seeds", [{"edition_id": edition_key, "sealed": self._seal(seed, "seeds", edition_key)}])
        return self.seed(edition_key) or seed

    def seed(self, edition_key: str) -> bytes | None:
        """Return the private seed of an edition, if it has one.

        Raises:
            IntegrityFailure: If the row is damaged or another edition's.
        """
        with _readable(edition_key):
            row = self._database.row("SELECT sealed FROM seeds WHERE edition_id = ?", (edition_key,))
            return self._unseal(row["sealed"], "seeds", edition_key) if row else None

    def add_association(self, edition_key: str, family_id: str, association: Association) -> None:
        """Store the association of a certified family; the first one stays."""
        sealed = self._seal(_encode(association), "associations", edition_key, family_id)
        self._database.add("associations", [{"edition_id": edition_key, "family_id": family_id, "sealed": sealed}])

    def associations(self, edition_key: str) -> dict[str, Association]:
        """Return the associations of an edition by family id.

        Raises:
            IntegrityFailure: If a row is damaged or another family's.
        """
        found = {}
        with _readable(edition_key):
            query = "SELECT family_id, sealed FROM associations WHERE edition_id = ?"
            for row in self._database.rows(query, (edition_key,)):
                name = row["family_id"]
                with _readable(edition_key, family_id=name):
                    found[name] = _decode(self._unseal(row["sealed"], "associations", edition_key, name))
        return found

    def note(self, kind: str, edition_key: str, name: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Keep a note about an edition unless there is one of that kind and name, and return the one that stands."""
        sealed = self._seal(canonical_json(body), "notes", kind, edition_key, name)
        self._database.add("notes", [{"kind": kind, "edition_id": edition_key, "name": name, "sealed": sealed}])
        return self.notes(kind, edition_key, name=name)[name]

    def notes(self, kind: str, edition_key: str, *, name: str | None = None) -> dict[str, dict[str, Any]]:
        """Return the notes of one kind about an edition by name, all or the one of a name.

        Raises:
            IntegrityFailure: If a row is damaged or stood in another place.
        """
        query = "SELECT name, sealed FROM notes WHERE kind = ? AND edition_id = ? AND ? IN (name, '')"
        with _readable(edition_key):
            return {
                row["name"]: json.loads(self._unseal(row["sealed"], "notes", kind, edition_key, row["name"]))
                for row in self._database.rows(query, (kind, edition_key, name or ""))
            }

    def keep_of_audit(self, kind: str, audit_key: str, name: str, content: bytes) -> bytes:
        """Keep bytes of an audit unless there are some of that kind and name, and return those that stand.

        Args:
            kind: What they are.
            audit_key: What the audit is kept under, `{audit}@{project}`; of a whole project, `@{project}`; of all, `@`.
            name: Which of the kind.
            content: A length that depends on nothing secret.
        """
        sealed = self._seal(content, "audits", kind, audit_key, name)
        self._database.add("audits", [{"kind": kind, "audit": audit_key, "name": name, "sealed": sealed}])
        stands = self.of_audit(kind, audit_key, name)
        assert stands is not None  # noqa: S101 - written above
        return stands

    def of_audit(self, kind: str, audit_key: str, name: str) -> bytes | None:
        """Return what is kept of an audit, if there is some of that kind and name.

        Raises:
            IntegrityFailure: If the row is damaged or stood in another place.
        """
        with _readable_of_audit(audit_key):
            query = "SELECT sealed FROM audits WHERE kind = ? AND audit = ? AND name = ?"
            row = self._database.row(query, (kind, audit_key, name))
            return self._unseal(row["sealed"], "audits", kind, audit_key, name) if row else None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make what is written meanwhile one commit, or nothing."""
        with self._database.transaction():
            yield

    def close(self) -> None:
        """Checkpoint and close."""
        self._database.close()

    def _open_head(self) -> bytes:
        """Return the vault's id; a new vault gets one, and a text that only its key opens."""
        with self._database.transaction():
            row = self._database.row("SELECT * FROM head")
            if row is None:
                if self._database.row(_HOLD_SOMETHING):
                    raise VaultError(f"{self._path} holds rows and no head: half of it is gone; restore it from a copy")
                self._vault_id = os.urandom(_ID_BYTES)
                sealed = self._seal(_HEAD, "head")
                self._database.add("head", [{"name": "head", "vault_id": self._vault_id, "sealed": sealed}])
                return self._vault_id
        self._vault_id = row["vault_id"]
        try:
            self._unseal(row["sealed"], "head")
        except InvalidTag as error:
            raise VaultError(
                f"the vault key does not open {self._path}: it is another vault's, or the file is damaged; give the "
                "key under which it was made, or restore both from one copy"
            ) from error
        return self._vault_id

    def _seal(self, plaintext: bytes, *place: str) -> bytes:
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, plaintext, self._bound(place))

    def _unseal(self, sealed: bytes, *place: str) -> bytes:
        return self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], self._bound(place))

    def _bound(self, place: tuple[str, ...]) -> bytes:
        return canonical_json({"format": _FORMAT, "vault": self._vault_id.hex(), "place": list(place)})


@contextmanager
def _readable(edition_key: str, *, family_id: str = "") -> Iterator[None]:
    whose = f"of family {family_id!r} " if family_id else ""
    edition_id = id_of(edition_key)
    with _naming(f"{whose}of edition {edition_id!r}", subject=f"editions/{edition_id}"):
        yield


@contextmanager
def _readable_of_audit(audit_key: str) -> Iterator[None]:
    audit_id = id_of(audit_key)
    whose = f"of audit {audit_id!r}" if audit_id else "of deposited audits"
    with _naming(whose, subject=f"audits/{audit_id}" if audit_id else "audits"):
        yield


@contextmanager
def _naming(whose: str, *, subject: str) -> Iterator[None]:
    """Name the row that does not open, without a word of what it holds."""
    try:
        yield
    except sqlite3.OperationalError:
        raise
    except (InvalidTag, ValueError, sqlite3.DatabaseError) as error:
        raise IntegrityFailure(
            f"what the vault holds {whose} is damaged or stood in another place; "
            "restore the vault from a copy of the server's data folder",
            subject=subject,
        ) from error


def _encode(association: Association) -> bytes:
    body = {**asdict(association), "nonce": association.nonce.hex(), "passed_counts": list(association.passed_counts)}
    encoded = canonical_json(body).ljust(_ASSOCIATION_BYTES)
    if len(encoded) != _ASSOCIATION_BYTES:
        raise ValueError(f"an association takes {len(encoded)} bytes and a row of the vault has {_ASSOCIATION_BYTES}")
    return encoded


def _decode(encoded: bytes) -> Association:
    body = json.loads(encoded)
    one, two, three, four = body["passed_counts"]
    return Association(
        key=body["key"],
        condition=Condition(body["condition"]),
        truth=body["truth"],
        nonce=bytes.fromhex(body["nonce"]),
        fixture_count=body["fixture_count"],
        passed_counts=(one, two, three, four),
        attempt=body["attempt"],
    )

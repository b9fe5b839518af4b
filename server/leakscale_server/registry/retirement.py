"""Retired editions: their truth is in the open, and nothing can be measured with them any more.

The openings lie in a file beside the edition's. No table of the registry has a column that could hold a truth.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from leakscale.models import EditionPhase, Opening
from leakscale.openings import opening_of_line, openings_to_lines
from leakscale.statements import Predicate, envelope_bytes, statement
from leakscale.whole_files import write_whole
from leakscale_server.errors import IntegrityFailure, NotRetired
from leakscale_server.registry.editions import Edition, EditionRegistry
from leakscale_server.store.database import InsertOnlyDatabase, Row
from leakscale_server.store.ledger import PUBLIC, Ledger, LoggedEntry
from leakscale_server.store.signing import Signer

__all__ = ["Retirements"]


class Retirements:
    """Retires editions, and shows what their commitments hid."""

    def __init__(self, registry: InsertOnlyDatabase, ledger: Ledger, signer: Signer, editions: EditionRegistry) -> None:
        self._registry = registry
        self._ledger = ledger
        self._signer = signer
        self._editions = editions

    def record(self, edition: Edition, end: Callable[[], bytes], *, principal: str) -> LoggedEntry:
        """State and log that a frozen edition is retired; a retired one stays as it is.

        Args:
            edition: Frozen.
            end: Ends its use and returns the SHA-256 of its openings. Nothing is sealed meanwhile.
            principal: Who retires it.

        Returns:
            The entry, with which the scorer opens what it committed to.

        Raises:
            IntegrityFailure: If other openings were stated before.
        """
        with self._registry.transaction():
            digest, row = end(), self._row(edition.edition_id)
            if row is not None and row["openings_digest"] != digest:
                raise IntegrityFailure(
                    f"edition {edition.edition_id!r} was retired with other openings than the vault holds; restore "
                    "registry and vault from one copy of the data folder",
                    subject=f"editions/{edition.edition_id}",
                )
            if row is None:
                time = self._editions.lifecycle.reach(edition.key, EditionPhase.RETIRED, principal=principal)
                payload = statement(
                    Predicate.RETIREMENT,
                    subject=f"editions/{edition.edition_id}",
                    digest=digest,
                    predicate={
                        "commitment_root": edition.commitment_root.hex(),
                        "family_count": len(edition.slots()),
                        "retire_time": time.isoformat(),
                    },
                )
                self._record(edition.edition_id, payload, digest=digest)
        return self._ledger.logged("edition-retired", edition_id=edition.edition_id)

    def show(self, edition: Edition, openings: Sequence[Opening]) -> Edition:
        """Keep the openings of a retired edition for all to read. A crash before is healed by retiring again."""
        write_whole(self._path(edition.edition_id), openings_to_lines(openings))
        return self._editions.again(edition)

    def is_complete(self, edition_id: str) -> bool:
        """Tell whether an edition is retired and its openings are there."""
        try:
            self.openings(edition_id, after="", limit=0)
        except (NotRetired, IntegrityFailure):
            return False
        return True

    def openings(self, edition_id: str, *, after: str, limit: int) -> list[Opening]:
        """Return openings of a retired edition in the order of family ids, those after one, at most `limit`.

        Raises:
            NotRetired: If its truth is not in the open.
            IntegrityFailure: If the file is gone or not the one that was stated.
        """
        row = self._row(edition_id)
        if row is None:
            raise NotRetired(
                f"edition {edition_id!r} is not retired, so its commitments stay closed; `leakscale edition retire` "
                "ends its use and opens them",
                subject=f"editions/{edition_id}",
            )
        try:
            openings = _read(self._path(edition_id), row["openings_digest"])
        except (OSError, ValueError) as error:
            raise IntegrityFailure(
                f"the openings of edition {edition_id!r} are missing or not the ones that were stated; run "
                "`leakscale edition retire` again",
                subject=f"editions/{edition_id}",
            ) from error
        return [opening for opening in openings if opening.family_id > after][:limit]

    def _record(self, edition_id: str, payload: bytes, *, digest: bytes) -> None:
        signature = self._signer.sign_statement(payload)
        envelope = envelope_bytes(payload, signature=signature, public_key=self._signer.public_key)
        row: Row = {"edition_id": edition_id, "openings_digest": digest, "payload": payload, "signature": signature}
        self._registry.add("retirements", [row])
        self._ledger.append(
            "edition-retired",
            {"edition": edition_id, "openings": digest.hex(), "envelope": hashlib.sha256(envelope).hexdigest()},
            project=PUBLIC,
        )

    def _path(self, edition_id: str) -> Path:
        return self._editions.file_path(edition_id).with_suffix(".openings.jsonl")

    def _row(self, edition_id: str) -> Row | None:
        return self._registry.row("SELECT * FROM retirements WHERE edition_id = ?", (edition_id,))


@functools.lru_cache(maxsize=8)
def _read(path: Path, digest: bytes) -> tuple[Opening, ...]:
    content = path.read_bytes()
    if hashlib.sha256(content).digest() != digest:
        raise ValueError("the file is not the one that was stated")
    return tuple(map(opening_of_line, content.splitlines()))

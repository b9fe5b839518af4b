"""Fetch what a server says of itself into a directory, so that it can be checked and kept.

The ledger is fetched first and bounds the rest: what happens meanwhile is left for the next export. Into the same
directory again, the server has to prove that its ledger begins with the one that lies there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leakscale.errors import ConflictError, IntegrityError, PermissionDeniedError
from leakscale.merkle import is_consistent
from leakscale.models import LedgerHead, SignedStatement
from leakscale.openings import openings_to_lines
from leakscale.statements import envelope_bytes
from leakscale.verify.directory import ServerDirectory, facts_of, head_to_json, line_of_entry, read_head
from leakscale.whole_files import replacing, write_whole

if TYPE_CHECKING:
    from leakscale.client import Client

__all__ = ["Told", "export_server"]

Told = Callable[[str], None]
"""Told the name of a file."""


def export_server(
    client: Client, root: Path, *, written: Told = lambda name: None, left_out: Told = lambda name: None
) -> ServerDirectory:
    """Fetch ledger, editions and disclosures that the caller may read.

    Args:
        client: Of a server.
        root: A new or empty directory, or one that an earlier export of the same server wrote.
        written: Told the name of each file as it is written.
        left_out: Told the name of each file that the caller's token does not open.

    Raises:
        ConflictError: If the directory holds something else, or another server's export.
        IntegrityError: If the server's ledger does not begin with the one that lies there.
    """
    directory = ServerDirectory(root)
    before = _earlier_head(directory)
    head = client.ledger.head()
    if before is not None:
        _require_growth(client, before, head)
    entries = [entry for entry in client.ledger.entries() if entry.position < head.entry_count]
    export = _Export(client, directory, written, left_out)
    for entry in entries:
        if entry.content:
            export.fetch(facts_of(entry))
    # Last, so that a directory whose head is new is complete.
    write_whole(directory.ledger, b"".join(line_of_entry(entry) + b"\n" for entry in entries))
    written(directory.relative(directory.ledger))
    write_whole(directory.head, head_to_json(head))
    written(directory.relative(directory.head))
    return directory


def _earlier_head(directory: ServerDirectory) -> LedgerHead | None:
    if not directory.root.exists() or not any(directory.root.iterdir()):
        return None
    try:
        return read_head(directory.head)
    except (OSError, ValueError) as error:
        raise ConflictError(
            f"'{directory.root}' holds files and no export of a server ({error}); choose another directory"
        ) from error


def _require_growth(client: Client, before: LedgerHead, head: LedgerHead) -> None:
    if before.public_key != head.public_key:
        raise ConflictError("the directory holds the export of another server; choose another directory")
    if before.entry_count == 0:
        return
    path: Sequence[bytes] = ()
    if before.entry_count <= head.entry_count:
        path = client.ledger.consistency_proof(before.entry_count, head.entry_count)
    if not is_consistent(
        first_count=before.entry_count,
        first_root=before.root,
        second_count=head.entry_count,
        second_root=head.root,
        path=path,
    ):
        raise IntegrityError(
            f"the server's ledger of {head.entry_count} entries does not begin with the {before.entry_count} that were "
            "exported before: entries were changed or dropped; keep the directory as evidence"
        )


class _Export:
    """Fetches what entries of the ledger name; what is there already is not fetched again."""

    def __init__(self, client: Client, directory: ServerDirectory, written: Told, left_out: Told) -> None:
        self._client = client
        self._directory = directory
        self._written = written
        self._left_out = left_out

    def fetch(self, facts: Mapping[str, Any]) -> None:
        """Fetch what one entry names; an entry of another kind names nothing."""
        fetch = {
            "edition-frozen": self._edition,
            "edition-retired": self._openings,
            "experiment-disclosed": self._disclosure,
        }.get(str(facts["kind"]))
        if fetch is not None:
            fetch(facts)

    def _edition(self, facts: Mapping[str, Any]) -> None:
        edition_id = facts["edition"]
        path = self._directory.edition(edition_id)
        if not (path.exists() and hashlib.sha256(path.read_bytes()).hexdigest() == facts["file"]):
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as file:
                for chunk in self._client.editions.download(f"editions/{edition_id}"):
                    file.write(chunk)
            self._written(self._directory.relative(path))
        edition = self._client.editions.get(f"editions/{edition_id}")
        self._statement(self._directory.edition_statement(edition_id), edition.freeze_statement)

    def _openings(self, facts: Mapping[str, Any]) -> None:
        edition_id = facts["edition"]
        path = self._directory.openings(edition_id)
        if not path.exists():
            write_whole(path, openings_to_lines(self._client.editions.openings(f"editions/{edition_id}")))
            self._written(self._directory.relative(path))
        edition = self._client.editions.get(f"editions/{edition_id}")
        self._statement(self._directory.retirement(edition_id), edition.retirement_statement)

    def _disclosure(self, facts: Mapping[str, Any]) -> None:
        experiment = facts["experiment"]
        path = self._directory.disclosure(experiment)
        if path.exists():
            return
        try:
            found = self._client.experiments.disclose(f"experiments/{experiment}")
        except PermissionDeniedError:
            self._left_out(self._directory.relative(path))
            return
        self._statement(path, SignedStatement(found.payload, found.signature, found.public_key))

    def _statement(self, path: Path, stated: SignedStatement | None) -> None:
        if stated is None:
            raise IntegrityError(
                f"the server has no statement for {self._directory.relative(path)}, which its ledger names"
            )
        content = envelope_bytes(stated.payload, signature=stated.signature, public_key=stated.public_key)
        if not (path.exists() and path.read_bytes() == content):
            write_whole(path, content)
            self._written(self._directory.relative(path))

"""Directories as `leakscale audit fetch` lays them out, without a server."""

from __future__ import annotations

import hashlib
from pathlib import Path

from leakscale.audit.directory import AuditDirectory, BankRole, creating_directory
from leakscale.audit.forms import read_bank, write_bank
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.registration.opening import begin_ledger, read_draw
from leakscale.audit.registration.origin import Fetched
from leakscale.audit.registration.verifying import locked_registration

SERVER_KEY = bytes(range(32))


def a_fetched_audit(author: AuditDirectory, root: Path, *, server_key: bytes = SERVER_KEY) -> AuditDirectory:
    """Lay a locked audit out as whoever answers it has it."""
    registration = locked_registration(author)
    content = author.registration.read_bytes()
    origin = Fetched(
        f"audits/{registration.name}",
        hashlib.sha256(content).hexdigest(),
        AuditLedger(author).public_key(),
        "127.0.0.1:7443",
        server_key,
    )
    with creating_directory(root) as directory:
        for role in BankRole:
            if author.bank(role).is_file():
                write_bank(read_bank(author.bank(role)).without_golds(), directory.bank(role))
        directory.registration.write_bytes(content)
        begin_ledger(directory, read_draw(author), EntryKind.FETCH, facts=origin.to_json())
    return directory

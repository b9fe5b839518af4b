"""Fetch a deposited audit in order to answer it: a directory with its forms, without its golds."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from leakscale.audit.directory import AuditDirectory, BankRole, creating_directory, is_audit
from leakscale.audit.forms import FormBank, write_bank
from leakscale.audit.registration.amended import (
    FetchedAmendment,
    amendment_facts,
    fetched_amendments,
    read_amendment,
)
from leakscale.audit.registration.documents import registration_in
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.registration.models import Registration
from leakscale.audit.registration.opening import begin_ledger, drawn_from, read_frame
from leakscale.audit.registration.origin import Fetched, fetched_of
from leakscale.audit.registration.preconditions import require_drawn
from leakscale.audit.registration.verifying import locked_bank, locked_registration, require_bank
from leakscale.audit.remote.keys import envelope_of, server_key_of
from leakscale.audit.remote.names import audit_name, bank_name, forms_subject
from leakscale.audit.remote.pieces import read_forms
from leakscale.digests import json_digest
from leakscale.errors import ConflictError, IntegrityError, InvalidRequestError
from leakscale.whole_files import write_whole

if TYPE_CHECKING:
    from leakscale.client import Client
    from leakscale.deposits import DepositedAudit

__all__ = ["FetchedAudit", "fetch_audit"]


@dataclass(frozen=True, slots=True)
class FetchedAudit:
    """A directory in which a deposited audit can be answered."""

    directory: AuditDirectory
    registration: Registration
    origin: Fetched
    is_new: bool
    """False where it was fetched before, and brought up to date."""
    new_amendments: tuple[FetchedAmendment, ...]
    is_drawn_again: bool
    """Whether a frame is there and the sample was drawn from it again."""


def fetch_audit(
    client: Client,
    name: str,
    root: Path,
    *,
    server: str,
    server_key: bytes | None = None,
    frame: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> FetchedAudit:
    """Fetch the forms of an audit into a new directory; into the directory of an earlier fetch, what came since.

    Args:
        client: Of the server, with a token that may answer.
        name: `audits/{audit}`.
        root: New folder, or that of an earlier fetch.
        server: Address, as the ledger names it.
        server_key: The key by which the server has to sign, where it is known.
        frame: Every parent of the benchmark; the sample is drawn from it again and compared.
        progress: Called with the banks that are there and their number.

    Raises:
        NotFoundError: If there is no such audit, or no such frame.
        IntegrityError: If a signature, a form, or the draw does not hold.
        ConflictError: If the folder holds something else, or another audit.
        InvalidRequestError: If a newer version of leakscale locked the audit.
    """
    key = server_key_of(client, expected=server_key, server=server)
    audit = client.audits.get(name)
    registration = registration_in(
        audit.registration, public_key=audit.author_key, source=f"the registration of '{name}' on '{server}'"
    )
    if audit_name(registration.name) != name:
        raise IntegrityError(f"server '{server}' has under '{name}' the registration of '{registration.name}'")
    digest = hashlib.sha256(audit.registration).hexdigest()
    origin = Fetched(name, digest, audit.author_key, server, key)
    held = None if frame is None else _frame(registration, frame)
    directory, is_new = AuditDirectory(root), not is_audit(root)
    if is_new:
        banks = _forms(client, registration, progress)
        with creating_directory(root):
            _lay_out(directory, audit.registration, registration, banks, origin)
    with directory.held():
        _require_same(directory, origin)
        if held is not None:
            _require_drawn(registration, held, locked_bank(directory, registration))
            write_bank(held, directory.frame)
        amendments = _take_amendments(directory, audit, origin)
        registration = locked_registration(directory)
    return FetchedAudit(directory, registration, origin, is_new, amendments, directory.frame.is_file())


def _forms(
    client: Client, registration: Registration, progress: Callable[[int, int], None] | None
) -> dict[BankRole, FormBank]:
    """Return the banks, each held against the registration."""
    facts = {BankRole.AUDIT: registration.bank} | (
        {BankRole.CONTROL: registration.control} if registration.control else {}
    )
    banks = {}
    for count, (role, locked) in enumerate(facts.items(), start=1):
        name = bank_name(registration.name, role)
        banks[role] = _bank(client, name, role)
        require_bank(banks[role], locked, source=f"'{name}' on the server")
        if progress is not None:
            progress(count, len(facts))
    return banks


def _bank(client: Client, name: str, role: BankRole) -> FormBank:
    """Return a bank that is sealed to a key which lives as long as the call."""
    from leakscale.sealing import HolderKey, open_pieces  # noqa: PLC0415 - needs cryptography

    key = HolderKey()
    pieces = client.audits.forms(name, holder_key=key.public)
    try:
        return read_forms(open_pieces(pieces, key=key, subject=forms_subject(name, key.public)), role)
    except InvalidRequestError as error:
        raise IntegrityError(f"'{name}' came as something else than a bank of forms ({error}); fetch again") from error


def _lay_out(
    directory: AuditDirectory,
    content: bytes,
    registration: Registration,
    banks: Mapping[BankRole, FormBank],
    origin: Fetched,
) -> None:
    for role, bank in banks.items():
        write_bank(bank, directory.bank(role))
    write_whole(directory.registration, content)
    begin_ledger(directory, registration.draw, EntryKind.FETCH, facts=origin.to_json())


def _frame(registration: Registration, path: Path) -> FormBank:
    """Read the frame, which has to be the one that the author drew from.

    Raises:
        IntegrityError: If it is another one.
    """
    frame, draw = read_frame(path), registration.draw
    if frame.content_digest != draw.frame_digest:
        raise IntegrityError(
            f"frame '{path}' is not the one that audit '{registration.name}' was drawn from (digest "
            f"{frame.content_digest[:12]}, registered {draw.frame_digest[:12]}); pass the benchmark that it names: "
            f"{registration.plan.benchmark.source}"
        )
    return frame


def _require_drawn(registration: Registration, frame: FormBank, bank: FormBank) -> None:
    try:
        require_drawn(drawn_from(frame, registration.draw).without_golds(), registration.draw, bank)
    except InvalidRequestError as error:
        raise IntegrityError(f"audit '{registration.name}' is not what was drawn from its frame: {error}") from error


def _require_same(directory: AuditDirectory, origin: Fetched) -> None:
    """Refuse a directory in which something else lies."""
    found = fetched_of(directory)
    if found is None:
        raise ConflictError(f"'{directory.root}' is an audit that was drawn there; fetch into another folder")
    for name in ("audit", "registration_digest", "author_key", "server_key"):
        if getattr(found, name) != getattr(origin, name):
            raise ConflictError(
                f"'{directory.root}' was fetched with another {name.replace('_', ' ')}; fetch into another folder"
            )


def _take_amendments(directory: AuditDirectory, audit: DepositedAudit, origin: Fetched) -> tuple[FetchedAmendment, ...]:
    """Enter the amendments that came since, with the words of their author and of the server; return them."""
    known, registration = fetched_amendments(directory, origin), locked_registration(directory)
    if not len(known) <= len(audit.amendments) == len(audit.amendment_receipts):
        raise IntegrityError(f"'{audit.name}' had {len(known)} amendments, and the server tells of fewer or half ones")
    new = []
    for number, (envelope, stated) in enumerate(zip(audit.amendments, audit.amendment_receipts, strict=True), start=1):
        source, receipt = f"amendment {number} of '{audit.name}'", envelope_of(stated)
        read = read_amendment(envelope, receipt, origin, number=number, source=source)
        if number <= len(known):
            if read != known[number - 1]:
                raise IntegrityError(f"{source} is another one than the server told before; ask who runs it")
            continue
        registration.with_amendment(read.amendment)
        AuditLedger(directory).append(
            EntryKind.AMENDMENT,
            subject=read.amendment.variant,
            digest=json_digest(read.amendment.to_json()),
            facts=amendment_facts(read, envelope, receipt),
        )
        new.append(read)
    return tuple(new)

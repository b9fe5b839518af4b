"""Deposit a locked audit on a server: forms and golds sealed to its scorer, the registration in the clear."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.registration.amended import FetchedAmendment, read_amendment
from leakscale.audit.registration.amending import amendments_of
from leakscale.audit.registration.ledger import AuditLedger, EntryKind
from leakscale.audit.registration.models import Registration
from leakscale.audit.registration.origin import Fetched, require_golds
from leakscale.audit.registration.verifying import locked_bank, locked_nonce, locked_registration
from leakscale.audit.remote.keys import deposit_key_of, envelope_of, server_key_of
from leakscale.audit.remote.names import audit_name, deposit_subject, scores_name
from leakscale.audit.remote.pieces import deposit_pieces
from leakscale.errors import ConflictError, NotFoundError, PreconditionError

if TYPE_CHECKING:
    from leakscale.client import Client
    from leakscale.deposits import DepositedAudit
    from leakscale.sealing import SealedPiece

__all__ = ["Deposited", "deposit_audit"]


@dataclass(frozen=True, slots=True)
class Deposited:
    """What a deposit did."""

    audit: DepositedAudit
    is_new: bool
    """False where it lay there already."""
    new_amendments: tuple[FetchedAmendment, ...]
    """Amendments that were sent, with what the server knew when each came."""
    registration_digest: str
    """Hex SHA-256 of the signed registration."""
    server_key: bytes
    """Raw Ed25519 key of the server, 32 bytes."""


def deposit_audit(
    client: Client,
    directory: AuditDirectory,
    *,
    server: str,
    server_key: bytes | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Deposited:
    """Deposit a locked audit and its amendments; what lies there already is left alone, so it can be repeated.

    Args:
        client: Of the server, with a token that may deposit.
        directory: A locked audit.
        server: Address, as the ledger names it.
        server_key: The key by which the server has to sign, where it is known.
        progress: Called with the pieces that are sent and their number.

    Raises:
        PreconditionError: If the audit is not locked, was fetched, names a model whose answers are a log, or draws
            more than one answer a form.
        InvalidRequestError: If a gold or a form is larger than a server takes; the message names the parent.
        IntegrityError: If anything was changed after the lock, or the server's key is another one.
        ConflictError: If another audit lies on the server under that name, or this one on another server.
    """
    with directory.held():
        require_golds(directory, "a deposit")
        registration = locked_registration(directory)
        for each in (registration, *map(registration.with_amendment, amendments_of(directory))):
            _require_depositable(each)
        key = server_key_of(client, expected=server_key, server=server)
        _require_one_server(directory, key)
        content, pieces = directory.registration.read_bytes(), _pieces(directory, registration)
        audit = _deposited(client, registration.name, content)
        is_new = audit is None
        if audit is None:
            sealed = _sealed(pieces, registration.name, content, deposit_key_of(client, server_key=key, server=server))
            audit = client.audits.deposit(
                registration.name,
                registration=content,
                author_key=AuditLedger(directory).public_key(),
                pieces=_counted(sealed, len(pieces), progress),
            )
        facts = {"server": server, "server_key": key.hex()}
        digest = hashlib.sha256(content)
        AuditLedger(directory).append_once(EntryKind.DEPOSIT, subject=audit.name, digest=digest.digest(), facts=facts)
        origin = Fetched(audit.name, digest.hexdigest(), AuditLedger(directory).public_key(), server, key)
        audit, sent = _send_amendments(client, directory, audit, origin)
    return Deposited(audit, is_new, sent, digest.hexdigest(), key)


def _require_depositable(registration: Registration) -> None:
    if logged := [model.id for model in registration.plan.models if model.is_asked_already]:
        raise PreconditionError(
            f"model '{logged[0]}' of audit '{registration.name}' is registered with engine 'log': its answers are "
            "older than the lock, and a server takes none that could have been chosen; audit it locally"
        )
    if (count := registration.plan.decoding.answer_count) > 1:
        raise PreconditionError(
            f"audit '{registration.name}' ({registration.variant}) draws {count:,} answers a form "
            "(decoding.answer_count): the share that is right would tell a runner who makes answers up which one is; a "
            "server takes one a form, audit it locally"
        )


def _require_one_server(directory: AuditDirectory, key: bytes) -> None:
    """Refuse a second server: whoever sees the scores of one could answer the other better."""
    for entry in AuditLedger(directory).entries():
        if entry.kind is EntryKind.DEPOSIT and entry.facts["server_key"] != key.hex():
            raise ConflictError(
                f"audit '{directory.root}' is deposited on '{entry.facts['server']}', whose key is "
                f"{entry.facts['server_key']}, and one server scores it; deposit there, or lock another audit"
            )


def _pieces(directory: AuditDirectory, registration: Registration) -> Sequence[bytes]:
    """Return the deposit in pieces, all at once: what cannot be sent is found before anything is."""
    roles = [BankRole.AUDIT] if registration.control is None else list(BankRole)
    banks = {role: locked_bank(directory, registration, role) for role in roles}
    return list(deposit_pieces(banks, locked_nonce(directory)))


def _deposited(client: Client, audit_id: str, registration: bytes) -> DepositedAudit | None:
    """Return the audit, if it lies on the server already."""
    try:
        audit = client.audits.get(audit_name(audit_id))
    except NotFoundError:
        return None
    if audit.registration != registration:
        raise ConflictError(
            f"'{audit.name}' is deposited with another registration (by {audit.depositor}); lock this audit under "
            "another name"
        )
    return audit


def _sealed(pieces: Sequence[bytes], audit_id: str, registration: bytes, key: bytes) -> Iterator[SealedPiece]:
    from leakscale.sealing import seal_pieces  # noqa: PLC0415 - needs cryptography

    return seal_pieces(pieces, public_key=key, subject=deposit_subject(audit_id, registration))


def _counted(
    pieces: Iterator[SealedPiece], total: int, progress: Callable[[int, int], None] | None
) -> Iterator[SealedPiece]:
    for count, piece in enumerate(pieces, start=1):
        yield piece
        if progress is not None:
            progress(count, total)


def _send_amendments(
    client: Client, directory: AuditDirectory, audit: DepositedAudit, origin: Fetched
) -> tuple[DepositedAudit, tuple[FetchedAmendment, ...]]:
    """Send the amendments that the server does not have; return the audit, and what was sent.

    The ledger gets what the server says it knew when each came.
    """
    ledger, sent = AuditLedger(directory), []
    for number, envelope in enumerate(ledger.envelopes(EntryKind.AMENDMENT), start=1):
        is_new = number > len(audit.amendments)
        if is_new:
            audit = client.audits.amend(audit.name, envelope)
        _require_same(audit, envelope, number)
        receipt, source = envelope_of(audit.amendment_receipts[number - 1]), f"amendment {number} of '{audit.name}'"
        read = read_amendment(envelope, receipt, origin, number=number, source=source)
        ledger.append_once(
            EntryKind.DEPOSIT,
            subject=scores_name(audit.name.partition("/")[2], read.amendment.variant),
            digest=bytes.fromhex(read.digest),
            facts={
                "server": origin.server,
                "server_key": origin.server_key.hex(),
                "released_before": list(read.released_before),
                "sealed_before": read.sealed_before,
            },
        )
        sent += [read] if is_new else []
    return audit, tuple(sent)


def _require_same(audit: DepositedAudit, envelope: bytes, number: int) -> None:
    if audit.amendments[number - 1] != envelope:
        raise ConflictError(
            f"'{audit.name}' has another amendment {number} than this directory; deposit from the directory "
            "that it was deposited from"
        )

"""Deposits: the key that they are sealed to, their pieces, and what these make, held against the registration."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from leakscale.audit.directory import BankRole
from leakscale.audit.forms.models import Criterion, FormBank
from leakscale.audit.registration.models import BankFacts, Registration
from leakscale.audit.remote.limits import FORMS_MAX
from leakscale.audit.remote.names import bank_name, deposit_subject, forms_subject
from leakscale.audit.remote.pieces import form_pieces, read_deposit
from leakscale.audit.scoring.numbers import read_number
from leakscale.digests import canonical_json
from leakscale.errors import LeakScaleError
from leakscale.sealing import HolderKey, SealedPiece, seal_pieces
from leakscale.statements import Predicate, statement
from leakscale_server.errors import AlreadyDone, IntegrityFailure, InvalidRequest, Unavailable
from leakscale_server.scorer.audits.banks import KeptBanks, OpenedBank, OpenedDeposit
from leakscale_server.scorer.audits.contract import (
    AuditOrder,
    DepositKeyFacts,
    DepositOrder,
    FormsOrder,
    PieceOrder,
)
from leakscale_server.scorer.audits.documents import banks_of, registration_of, require_depositable
from leakscale_server.scorer.audits.staging import Staging
from leakscale_server.store.signing import Signer
from leakscale_server.store.vault import Vault

__all__ = ["Deposits", "audit_key", "registration_digest"]

_KEY: Final = "deposit-key"
_PIECE: Final = "piece"
_DEPOSIT: Final = "deposit"
_BANK: Final = "bank"
_ONE: Final = "one"
_EVERYBODYS: Final = "@"
"""Key of what is noted over all projects."""


def audit_key(audit: AuditOrder) -> str:
    """Return what an audit is kept under in the vault."""
    return f"{audit.audit_id}@{audit.project}"


def registration_digest(audit: AuditOrder) -> str:
    """Return hex SHA-256 of a registration."""
    return hashlib.sha256(audit.registration).hexdigest()


class Deposits:
    """Deposits of one vault. Safe to use from several threads."""

    def __init__(self, vault: Vault, signer: Signer) -> None:
        self._vault = vault
        self._signer = signer
        self._kept = KeptBanks()
        self._staging = Staging()
        self._keys: dict[str, HolderKey] = {}
        """By project; one that was read stays what it is."""

    def key(self, project: str) -> HolderKey:
        """Return the key of a project; made on first use."""
        if project not in self._keys:
            private = self._vault.keep_of_audit(_KEY, f"@{project}", _ONE, HolderKey().private)
            self._keys[project] = HolderKey(private)
        return self._keys[project]

    def told_key(self, project: str) -> DepositKeyFacts:
        """Return the public half of a project's key, signed."""
        public = self.key(project).public
        payload = statement(
            Predicate.DEPOSIT_KEY,
            subject="deposit-key",
            digest=hashlib.sha256(public).digest(),
            predicate={"public_key": public.hex()},
        )
        return DepositKeyFacts(public, payload, self._signer.sign_statement(payload))

    def keep(self, piece: PieceOrder) -> str:
        """Keep a piece; see `AuditScoring`."""
        audit, key = piece.audit, self.key(piece.audit.project)
        subject = deposit_subject(audit.audit_id, audit.registration)
        try:
            content = key.open(piece.sealed, subject=subject, index=piece.index, is_last=piece.is_last)
        except LeakScaleError as error:
            raise InvalidRequest(
                f"piece {piece.index} of the deposit of audit {audit.audit_id!r} does not open: it was sealed to "
                "another key than GetDepositKey tells, for another registration or place, or changed on the way; "
                "deposit again",
                subject="sealed",
            ) from error
        # Keyed: its plain digest would confirm a guess of the right answers in it.
        handle = hmac.digest(key.private, content, "sha256").hex()
        self._staging.put(_staged_name(audit, handle), content)
        return handle

    def deposit(self, order: DepositOrder) -> None:
        """Hold a deposit against its registration, and keep it; see `AuditScoring`."""
        audit = order.audit
        registration = registration_of(audit)
        require_depositable(registration, audit_id=audit.audit_id)
        try:
            staged = [self._staged(audit, handle) for handle in order.handles]
            self._judge(audit, registration, staged)
            self._write(audit, order.handles, staged)
        finally:
            # What is refused is to leave nothing, and what stands lies in the vault.
            for handle in order.handles:
                self._staging.drop(_staged_name(audit, handle))

    def _judge(self, audit: AuditOrder, registration: Registration, staged: Sequence[bytes]) -> None:
        try:
            found = read_deposit(staged)
            found.require_matches(registration)
        except LeakScaleError as error:
            raise _refused(audit, error) from error
        for role, bank in found.banks.items():
            _require_countable(audit, role, bank)
            _require_judged(audit, role, bank)
        self._require_first(audit, banks_of(registration))

    def _write(self, audit: AuditOrder, handles: Sequence[str], staged: Sequence[bytes]) -> None:
        body = canonical_json({"pieces": list(handles)})
        with self._vault.transaction():
            for handle, content in zip(handles, staged, strict=True):
                self._vault.keep_of_audit(_PIECE, audit_key(audit), _piece_name(audit, handle), content)
            self._vault.keep_of_audit(_DEPOSIT, audit_key(audit), registration_digest(audit), body)

    def opened(self, audit: AuditOrder) -> Mapping[str, OpenedBank]:
        """Return the banks of a deposit, by their roles.

        Raises:
            IntegrityFailure: If the vault has no such deposit, or lacks a piece of it.
        """
        name = registration_digest(audit)
        return self._kept.get((audit_key(audit), name), lambda: self._opened(audit, name))

    def forms(self, order: FormsOrder) -> Iterator[SealedPiece]:
        """Return the forms of a bank, sealed to their holder; see `AuditScoring`."""
        bank = self.opened(order.audit)[order.bank].bank.without_golds()
        subject = forms_subject(bank_name(order.audit.audit_id, order.bank), order.holder_key)
        return seal_pieces(form_pieces(bank, BankRole(order.bank)), public_key=order.holder_key, subject=subject)

    def _require_first(self, audit: AuditOrder, locked: Mapping[str, BankFacts]) -> None:
        """Let locked golds belong to one registration of one project for good, or they had scores to choose from.

        Asked once forms and golds have matched, so that it tells nothing to whoever has read the registration alone.
        """
        owner = f"{registration_digest(audit)}@{audit.project}".encode()
        for facts in locked.values():
            name = f"{facts.digest}/{facts.gold_commitment}"
            if self._vault.keep_of_audit(_BANK, _EVERYBODYS, name, owner) != owner:
                raise AlreadyDone(
                    f"the banks of audit {audit.audit_id!r} are deposited on this server already, and are scored once; "
                    "go on where they were deposited first, or lock a new audit",
                    subject=f"audits/{audit.audit_id}",
                )

    def _opened(self, audit: AuditOrder, name: str) -> OpenedDeposit:
        body = self._vault.of_audit(_DEPOSIT, audit_key(audit), name)
        if body is None:
            raise _lacking(audit, "no deposit")
        pieces = list(self._pieces(audit, tuple(json.loads(body)["pieces"])))
        found = read_deposit(pieces)
        return OpenedDeposit(
            {str(role): OpenedBank.of(bank) for role, bank in found.banks.items()}, sum(map(len, pieces))
        )

    def _staged(self, audit: AuditOrder, handle: str) -> bytes:
        content = self._staging.get(_staged_name(audit, handle))
        if content is None:
            # The same deposit may have been judged meanwhile, sent by another call.
            content = self._vault.of_audit(_PIECE, audit_key(audit), _piece_name(audit, handle))
        if content is None:
            raise Unavailable(
                f"pieces of the deposit of audit {audit.audit_id!r} are gone: the scorer was started again meanwhile, "
                "or its room went to other deposits; deposit again",
                subject=f"audits/{audit.audit_id}",
            )
        return content

    def _pieces(self, audit: AuditOrder, handles: tuple[str, ...]) -> Iterator[bytes]:
        for handle in handles:
            piece = self._vault.of_audit(_PIECE, audit_key(audit), _piece_name(audit, handle))
            if piece is None:
                raise _lacking(audit, "not every piece")
            yield piece


def _piece_name(audit: AuditOrder, handle: str) -> str:
    # Of its registration, as the seal binds it: whoever carried a deposit could else sign a registration of its own
    # over the pieces that lie there, with as many models and answers as it likes.
    return f"{registration_digest(audit)}/{handle}"


def _staged_name(audit: AuditOrder, handle: str) -> str:
    return f"{audit_key(audit)}/{_piece_name(audit, handle)}"


def _require_countable(audit: AuditOrder, role: BankRole, bank: FormBank) -> None:
    """Refuse more forms than a scorer keeps in mind."""
    form_count = sum(1 for parent in bank.parents for _ in parent.forms())
    if form_count > FORMS_MAX:
        raise InvalidRequest(
            f"the deposit of audit {audit.audit_id!r} is refused: bank {str(role)!r} has {form_count:,} forms, and a "
            f"server takes {FORMS_MAX:,}; draw fewer parents, and lock a new audit",
            subject="sealed",
        )


def _require_judged(audit: AuditOrder, role: BankRole, bank: FormBank) -> None:
    """Refuse right answers that no answer could be judged by: the score would fail, and not before the end."""
    for parent in bank.parents:
        if parent.criterion is Criterion.NUMERIC and any(read_number(gold) is None for gold in parent.golds):
            raise InvalidRequest(
                f"the deposit of audit {audit.audit_id!r} is refused: in bank {str(role)!r} a right answer by the "
                "criterion `numeric` is no number (gold-unreadable); write one, and lock a new audit",
                subject="sealed",
            )


def _refused(audit: AuditOrder, error: LeakScaleError) -> InvalidRequest:
    """Say which rule a deposit breaks. The reader's words name bank and rule, and quote nothing."""
    return InvalidRequest(f"the deposit of audit {audit.audit_id!r} is refused: {error}", subject="sealed")


def _lacking(audit: AuditOrder, what: str) -> IntegrityFailure:
    return IntegrityFailure(
        f"the vault has {what} of audit {audit.audit_id!r}; restore registry and vault from one copy of the data "
        "folder",
        subject=f"audits/{audit.audit_id}",
    )

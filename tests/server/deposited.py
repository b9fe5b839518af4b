"""Builders: a locked audit as its author has it, its deposit, and answers as a runner has them. Valid by default."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.audit.answering.builders import locked_audit
from tests.audit.registration.builders import NOW, PLAN

from leakscale.audit.answering.answers import FormAnswer
from leakscale.audit.directory import AuditDirectory, BankRole
from leakscale.audit.forms import Form, FormBank, FormName, Parent, read_bank
from leakscale.audit.registration import amend_audit
from leakscale.audit.registration.signing import AuditKey
from leakscale.audit.remote.chunks import AnswerChunk, answer_chunks
from leakscale.audit.remote.names import answer_set_name, answers_subject, bank_name, deposit_subject, forms_subject
from leakscale.audit.remote.pieces import deposit_pieces, read_forms
from leakscale.client import Client
from leakscale.deposits import AnswerSet, DepositedAudit, SealedChunk
from leakscale.form_engines import Generated
from leakscale.sealing import HolderKey, SealedPiece, open_pieces, seal_pieces
from leakscale_server.app import RunningServer
from leakscale_server.identity.scopes import Role
from leakscale_server.identity.token_registry import TokenRegistry
from leakscale_server.store.registry_tables import open_registry

SALT = bytes(range(32))
MODELS = ("tiny", "other")
BANKS = (BankRole.AUDIT, BankRole.CONTROL)
Say = Callable[[FormName, Form], str]


@dataclass(frozen=True, slots=True)
class Locked:
    """What the author of a locked audit has."""

    directory: AuditDirectory
    audit_id: str
    registration: bytes
    author_key: bytes
    nonce: bytes
    banks: Mapping[BankRole, FormBank] = field(repr=False)

    def pieces(self, deposit_key: bytes, **changes: bytes) -> Iterator[SealedPiece]:
        """Seal the deposit; changes are of what it is sealed for, or of the nonce."""
        subject = deposit_subject(self.audit_id, changes.get("registration", self.registration))
        contents = deposit_pieces(self.banks, changes.get("nonce", self.nonce))
        return seal_pieces(contents, public_key=deposit_key, subject=subject)


def a_locked(folder: Path, audit_id: str = "demo", *, plan: str = PLAN, control_count: int = 3) -> Locked:
    """Lock an audit of four parents in three forms, and a control bank of three."""
    directory = locked_audit(
        folder, plan=plan.replace('name = "demo"', f'name = "{audit_id}"'), control_count=control_count
    )
    return locked_of(directory, audit_id, roles=BANKS if control_count else BANKS[:1])


def locked_of(directory: AuditDirectory, audit_id: str, *, roles: Sequence[BankRole]) -> Locked:
    """Return what the author of a locked directory has."""
    return Locked(
        directory,
        audit_id,
        directory.registration.read_bytes(),
        AuditKey.kept_in(directory.key).public,
        directory.nonce.read_bytes(),
        {role: read_bank(directory.bank(role)) for role in roles},
    )


def with_golds(locked: Locked, gold_of: Callable[[Parent], str]) -> Locked:
    """Return a locked audit whose deposit holds other right answers than the registration binds."""
    banks = {
        role: FormBank(tuple(parent.with_golds([gold_of(parent)] * len(parent.golds)) for parent in bank.parents))
        for role, bank in locked.banks.items()
    }
    return replace(locked, banks=banks)


def deposit(client: Client, locked: Locked) -> DepositedAudit:
    """Deposit it as the SDK does."""
    key = client.audits.deposit_key().public_key
    return client.audits.deposit(
        locked.audit_id,
        registration=locked.registration,
        author_key=locked.author_key,
        pieces=locked.pieces(key),
    )


def fetched(client: Client, audit_id: str, role: BankRole, *, key: HolderKey) -> FormBank:
    """Fetch a bank without right answers."""
    name = bank_name(audit_id, role)
    pieces = client.audits.forms(name, holder_key=key.public)
    return read_forms(open_pieces(pieces, key=key, subject=forms_subject(name, key.public)), role)


def right(name: FormName, form: Form) -> str:
    """Answer as the gold is."""
    return f"The answer is {form.gold}."


def wrong(name: FormName, form: Form) -> str:
    """Answer what no gold is."""
    return "The answer is 7777."


def original_only(name: FormName, form: Form) -> str:
    """Know the originals alone."""
    return right(name, form) if name.number == 0 else wrong(name, form)


def answers_to(bank: FormBank, say: Say = right) -> list[FormAnswer]:
    """Answer every form of a bank once."""
    return [
        FormAnswer(str(name), 0, False, Generated(say(name, form), 5, False, -0.5))
        for parent in bank.parents
        for name, form in parent.forms()
    ]


def sealed_chunks(
    answer_set: str, answers: Iterable[FormAnswer], *, deposit_key: bytes, salt: bytes = SALT
) -> list[SealedChunk]:
    """Cut and seal answers."""
    return [sealed_chunk(answer_set, chunk, deposit_key=deposit_key) for chunk in answer_chunks(answers, salt=salt)]


def sealed_chunk(answer_set: str, chunk: AnswerChunk, *, deposit_key: bytes) -> SealedChunk:
    """Seal one chunk."""
    subject = answers_subject(answer_set, chunk.number)
    (piece,) = seal_pieces([chunk.content], public_key=deposit_key, subject=subject)
    return SealedChunk(chunk.number, chunk.digest, piece.sealed)


def submit_and_seal(client: Client, answer_set: str, answers: Sequence[FormAnswer]) -> AnswerSet:
    """Answer and seal a set."""
    key = client.audits.deposit_key().public_key
    chunks = sealed_chunks(answer_set, answers, deposit_key=key)
    client.audits.submit(answer_set, chunks)
    return client.audits.seal(answer_set, chunk_count=len(chunks))


def set_names(audit_id: str, variant: str = "registered", banks: Iterable[str] = BANKS) -> list[str]:
    """Name every answer set of a variant."""
    return [answer_set_name(audit_id, variant, bank, model) for bank in banks for model in MODELS]


def answer_all(client: Client, locked: Locked, say: Say = right, *, variant: str = "registered") -> None:
    """Answer and seal every set of a variant."""
    for role, bank in locked.banks.items():
        for model in MODELS:
            submit_and_seal(client, answer_set_name(locked.audit_id, variant, role, model), answers_to(bank, say))


@contextmanager
def client_of(
    server: RunningServer, data_dir: Path, principal: str, role: Role, *, project: str = "vault"
) -> Iterator[Client]:
    """Open a client of somebody's."""
    with closing(open_registry(data_dir)) as registry:
        issued = TokenRegistry(registry).create(
            principal=principal, project=project, role=role, lifetime=timedelta(days=1)
        )
    with Client(server.target, token=issued.text) as made:
        yield made


def amendment_of(locked: Locked, changes: dict[str, Any]) -> bytes:
    """Amend a locked audit, and return the entry of its ledger."""
    amend_audit(locked.directory, changes=changes, reason="a test", now=NOW)
    return locked.directory.ledger.read_bytes().splitlines()[-1]

"""Deposited audits in one process: real registry, vault, scorer and stage, and whoever stands between them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from leakscale.audit.answering.answers import FormAnswer
from leakscale.models import SignedStatement
from leakscale_server.errors import Unavailable
from leakscale_server.identity.caller import Caller
from leakscale_server.identity.scopes import ROLE_SCOPES, Role
from leakscale_server.registry.audits import Audit, AuditRegistry, FormChunks, FormSeals, Scores, SealedAnswers, SetKey
from leakscale_server.scorer.audits.contract import AuditScoring
from leakscale_server.scorer.audits.scorer import AuditScorer
from leakscale_server.scorer.contract import Scoring
from leakscale_server.stages.audits import AuditDeposit, Auditing, SentChunk
from leakscale_server.store.database import InsertOnlyDatabase
from leakscale_server.store.ledger import Ledger
from leakscale_server.store.registry_tables import open_registry
from leakscale_server.store.signing import Signer
from leakscale_server.store.vault import Vault

from .deposited import MODELS, Locked, Say, answers_to, right, sealed_chunks

START = datetime(2030, 1, 1, tzinfo=UTC)
VAULT_KEY = b"v" * 32


def a_caller(principal: str, role: Role, project: str = "vault") -> Caller:
    return Caller(f"{principal}-token", principal, project, role, ROLE_SCOPES[role])


ADA = a_caller("ada", Role.AUTHOR)
ROB = a_caller("rob", Role.AUDITOR)
UNA = a_caller("una", Role.AUDITOR)


class Dying:
    """A scorer whose process dies at its n-th call, before or after it did what it was asked.

    Args:
        inner: What it is while it lives.
        call: Number of the call, from 0, that it does not answer; None to live.
        is_after: Whether it has done it all the same.
    """

    def __init__(self, inner: AuditScoring, *, call: int | None = None, is_after: bool = False) -> None:
        self._inner = inner
        self._dies_at = call
        self._is_after = is_after
        self._numbers = itertools.count()
        self.call_count = 0

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            number = next(self._numbers)
            self.call_count = number + 1
            answer = getattr(self._inner, name)(*arguments) if number != self._dies_at or self._is_after else None
            if isinstance(answer, Iterator):
                answer = list(answer)
            if number == self._dies_at:
                raise Unavailable("the scorer ended")
            return iter(answer) if isinstance(answer, list) else answer

        return call


@dataclass(slots=True)
class Bench:
    """One server's parts."""

    registry: InsertOnlyDatabase
    vault: Vault
    ledger: Ledger
    scorer: AuditScorer
    chunks: FormChunks
    audits: AuditRegistry
    seals: FormSeals
    scores: Scores
    auditing: Auditing
    between: AuditScoring = field(repr=False)

    def deposit(self, locked: Locked, *, caller: Caller = ADA) -> Audit:
        """Deposit an audit."""
        key = self.auditing.deposit_key(caller).public_key
        asked = AuditDeposit(locked.audit_id, locked.registration, locked.author_key)
        return self.auditing.deposit(asked, locked.pieces(key), caller)

    def set_key(
        self, locked: Locked, role: str, model: str, *, caller: Caller = ROB, variant: str = "registered"
    ) -> SetKey:
        """Return where an answer set is."""
        return self.auditing.answer_set(locked.audit_id, variant, role, model, caller)

    def submit(self, key: SetKey, answers: Iterable[FormAnswer], *, caller: Caller = ROB) -> int:
        """Submit answers; return the number of chunks."""
        deposit_key = self.auditing.deposit_key(caller).public_key
        chunks = sealed_chunks(key.name, answers, deposit_key=deposit_key)
        sent = [SentChunk(chunk.number, chunk.digest, chunk.sealed) for chunk in chunks]
        self.auditing.submit(key, sent, caller)
        return len(sent)

    def answer(
        self, locked: Locked, *, say: Say = right, caller: Caller = ROB, variant: str = "registered"
    ) -> list[SealedAnswers]:
        """Answer and seal every set of a variant."""
        sealed = []
        for role, bank in locked.banks.items():
            for model in MODELS:
                key = self.set_key(locked, role, model, caller=caller, variant=variant)
                count = self.submit(key, answers_to(bank, say), caller=caller)
                sealed.append(self.auditing.seal(key, caller, chunk_count=count, request_id="seal"))
        return sealed

    def released(self, locked: Locked, *, variant: str = "registered") -> tuple[SignedStatement, list[bytes]]:
        """Return the scores of a variant."""
        statement, tables = self.auditing.scores(locked.audit_id, variant, ROB)
        return statement, list(tables)

    def kinds(self) -> list[str]:
        """What the ledger says that happened, in order."""
        query = "SELECT json_extract(CAST(entry AS TEXT), '$.kind') AS kind FROM ledger ORDER BY position"
        return [row["kind"] for row in self.registry.rows(query)]


class _Behind:
    def __init__(self, audits: AuditScoring) -> None:
        self.audits = audits


@contextmanager
def a_bench(folder: Path, *, dying: Callable[[AuditScorer], Any] = lambda scorer: scorer) -> Iterator[Bench]:
    """Open the parts of a server over a folder, new or not."""
    ticks, salts = itertools.count(), itertools.count()
    clock: dict[str, Any] = {"now": lambda: START + timedelta(seconds=next(ticks))}
    signer = Signer.load_or_create(folder / "signing.key")
    with closing(open_registry(folder)) as registry, closing(Vault(folder, VAULT_KEY)) as vault:
        ledger = Ledger(registry, signer, random=lambda size: next(salts).to_bytes(size, "big"), **clock)
        scorer = AuditScorer(vault, signer)
        between = dying(scorer)
        chunks = FormChunks(registry)
        audits = AuditRegistry(registry, ledger, signer, **clock)
        seals = FormSeals(registry, ledger, signer, chunks, **clock)
        scores = Scores(registry, ledger, public_key=signer.public_key, **clock)
        auditing = Auditing(audits, chunks, seals, scores, cast(Scoring, _Behind(between)))
        yield Bench(registry, vault, ledger, scorer, chunks, audits, seals, scores, auditing, between)

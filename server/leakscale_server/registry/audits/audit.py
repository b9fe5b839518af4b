"""A deposited audit, and what its parts are called."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from leakscale.audit.remote.limits import asks_anew
from leakscale.audit.remote.names import answer_set_name, audit_name
from leakscale.envelopes import statement_in
from leakscale.models import SignedStatement
from leakscale_server.errors import NotFound

__all__ = ["REGISTERED", "Audit", "AuditDraft", "AuditHead", "SealedAnswers", "SetKey"]

REGISTERED: Final = "registered"
"""Variant of the registration as it was locked; the others are amendments."""


@dataclass(frozen=True, slots=True)
class AuditHead:
    """What an audit is listed by."""

    audit_id: str
    title: str
    depositor: str
    author_key: bytes
    create_time: datetime

    @property
    def name(self) -> str:
        """Resource name."""
        return audit_name(self.audit_id)


@dataclass(frozen=True, slots=True)
class AuditDraft:
    """What is deposited of an audit in the clear."""

    project: str
    audit_id: str
    depositor: str
    title: str
    author_key: bytes
    registration: bytes
    model_ids: tuple[str, ...]
    banks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SetKey:
    """Where an answer set is."""

    project: str
    audit_id: str
    variant: str
    bank: str
    model_id: str

    @property
    def name(self) -> str:
        """Resource name."""
        return answer_set_name(self.audit_id, self.variant, self.bank, self.model_id)


@dataclass(frozen=True, slots=True)
class SealedAnswers:
    """The receipt of an answer set, and what it was sealed by."""

    key: SetKey
    principal: str
    request_id: str
    chunk_count: int
    ledger_index: int
    receipt: SignedStatement


@dataclass(frozen=True, slots=True)
class Audit:
    """A deposited audit."""

    draft: AuditDraft
    amendments: tuple[bytes, ...]
    amendment_receipts: tuple[SignedStatement, ...]
    """For each amendment: what was sealed, and what had left, when it came."""
    authors: frozenset[str]
    """Principals that deposited or amended it: who has the author's key has forms and right answers."""
    create_time: datetime

    @property
    def name(self) -> str:
        """Resource name."""
        return audit_name(self.draft.audit_id)

    @property
    def head(self) -> AuditHead:
        """What it is listed by."""
        draft = self.draft
        return AuditHead(draft.audit_id, draft.title, draft.depositor, draft.author_key, self.create_time)

    @property
    def variants(self) -> tuple[str, ...]:
        """What it is answered under: as it was locked, and as each amendment changes that."""
        return (REGISTERED, *(f"amendment-{number + 1}" for number in range(len(self.amendments))))

    def amendment(self, variant: str) -> bytes:
        """Return the amendment of a variant; nothing for the registered one.

        Raises:
            NotFound: If there is no such variant.
        """
        if variant not in self.variants:
            name = f"{self.name}/variants/{variant}"
            raise NotFound(f"variant {name!r} does not exist on this server", subject=name)
        return b"" if variant == REGISTERED else self.amendments[self.variants.index(variant) - 1]

    def require_bank(self, bank: str) -> None:
        """Refuse a bank that it does not have.

        Raises:
            NotFound: If it has not.
        """
        if bank not in self.draft.banks:
            name = f"{self.name}/banks/{bank}"
            raise NotFound(f"bank {name!r} does not exist on this server", subject=name)

    def sets_of(self, variant: str) -> Iterator[SetKey]:
        """Yield the answer sets of a variant, bank by bank; an amendment that asks nobody anew has none of its own."""
        if variant != REGISTERED:
            # The scorer read the amendment when it came; this process loads nothing that reads one.
            entry = json.loads(statement_in(self.amendment(variant), public_key=self.draft.author_key).payload)
            if not asks_anew(entry["predicate"]["facts"]["changes"]):
                return
        for bank in self.draft.banks:
            for model_id in self.draft.model_ids:
                yield SetKey(self.draft.project, self.draft.audit_id, variant, bank, model_id)

    def answer_set(self, variant: str, bank: str, model_id: str) -> SetKey:
        """Return where an answer set is.

        Raises:
            NotFound: If there is no such variant, bank or model.
        """
        self.amendment(variant)
        key = SetKey(self.draft.project, self.draft.audit_id, variant, bank, model_id)
        if key not in set(self.sets_of(variant)):
            raise NotFound(f"answer set {key.name!r} does not exist on this server", subject=key.name)
        return key

"""Audits that are deposited on a server, as the client knows them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from leakscale.models import SignedStatement

__all__ = ["AnswerSet", "DepositKey", "DepositedAudit", "ReleasedScores", "ScoreFile", "SealedChunk"]


@dataclass(frozen=True, slots=True)
class DepositKey:
    """What deposits and answers of a project are sealed to."""

    public_key: bytes
    """Raw X25519 public key, 32 bytes."""
    statement: SignedStatement
    """The server's word that it is."""


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """The answers of one registered model to one bank, under one variant of the registration."""

    name: str
    """`audits/{audit}/variants/{variant}/banks/{bank}/models/{model}`."""
    receipt: SignedStatement | None
    """Once it is sealed."""

    @property
    def is_sealed(self) -> bool:
        """Whether no answer of it can change."""
        return self.receipt is not None


@dataclass(frozen=True, slots=True)
class DepositedAudit:
    """An audit whose private forms and right answers lie in a server's vault."""

    name: str
    """`audits/{audit}`."""
    title: str
    depositor: str
    """Principal that deposited it."""
    create_time: datetime
    author_key: bytes
    """Raw Ed25519 key, 32 bytes, that signed registration and amendments."""
    registration: bytes
    """The signed envelope; empty in a list."""
    amendments: tuple[bytes, ...]
    """Signed envelopes, the first first; empty in a list."""
    amendment_receipts: tuple[SignedStatement, ...]
    """For each amendment: what was sealed, and which scores had left, when it came; empty in a list."""
    answer_sets: tuple[AnswerSet, ...]
    """What has to be sealed before scores leave, of every variant; empty in a list."""
    released_variants: tuple[str, ...]
    """Names of the variants whose scores have left, in that order; empty in a list."""


@dataclass(frozen=True, slots=True)
class SealedChunk:
    """A chunk of answers as it travels."""

    number: int
    """From 0."""
    digest: bytes
    """SHA-256 of what is sealed."""
    sealed: bytes


@dataclass(frozen=True, slots=True)
class ScoreFile:
    """The scores of one model on one bank."""

    bank: str
    """`audit` or `control`."""
    model_id: str
    answers_digest: str
    """Of the answers that were scored, as their receipt names them."""
    content: bytes
    """A file of scores, as `ScoreTable.from_jsonl` reads it."""


@dataclass(frozen=True, slots=True)
class ReleasedScores:
    """The scores of a variant, which leave together."""

    statement: SignedStatement
    """What was scored, under which assurance level, and the digest of each file."""
    files: tuple[ScoreFile, ...]

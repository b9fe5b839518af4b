"""What the scorer is asked about deposited audits and what it answers: values alone.

No answer has a field that could hold a right answer, and none but the release one that depends on one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from leakscale.sealing import SealedPiece

__all__ = [
    "AmendmentOrder",
    "AnswerSetOrder",
    "AuditFacts",
    "AuditOrder",
    "AuditScoring",
    "CheckedChunk",
    "ChunkOrder",
    "DepositKeyFacts",
    "DepositOrder",
    "FormsOrder",
    "PieceOrder",
    "ReleaseOrder",
    "ReleasedPart",
    "SealedSet",
]


@dataclass(frozen=True, slots=True)
class AuditOrder:
    """Which audit, with what its author signed."""

    project: str
    audit_id: str
    registration: bytes
    author_key: bytes
    """Raw Ed25519 key."""


@dataclass(frozen=True, slots=True)
class AuditFacts:
    """What the API process has to know of a registration."""

    title: str
    model_ids: tuple[str, ...]
    banks: tuple[str, ...]
    """`audit`, and `control` where there is one."""


@dataclass(frozen=True, slots=True)
class DepositKeyFacts:
    """The key of a project, signed."""

    public_key: bytes
    payload: bytes
    signature: bytes


@dataclass(frozen=True, slots=True)
class PieceOrder:
    """One piece of a deposit."""

    audit: AuditOrder
    index: int
    is_last: bool
    sealed: bytes


@dataclass(frozen=True, slots=True)
class DepositOrder:
    """A deposit whose pieces are kept."""

    audit: AuditOrder
    handles: tuple[str, ...]
    """What each piece was answered with, in their order."""


@dataclass(frozen=True, slots=True)
class FormsOrder:
    """The forms of a bank, for a holder."""

    audit: AuditOrder
    bank: str
    holder_key: bytes
    """Raw X25519 key."""


@dataclass(frozen=True, slots=True)
class AmendmentOrder:
    """An amendment of an audit."""

    audit: AuditOrder
    amendment: bytes


@dataclass(frozen=True, slots=True)
class AnswerSetOrder:
    """Which answers of an audit."""

    audit: AuditOrder
    amendment: bytes
    """Empty for the registration as it was locked."""
    bank: str
    model_id: str


@dataclass(frozen=True, slots=True)
class ChunkOrder:
    """A chunk of answers."""

    answers: AnswerSetOrder
    number: int
    digest: bytes
    """SHA-256 that the sender names."""
    sealed: bytes


@dataclass(frozen=True, slots=True)
class CheckedChunk:
    """A chunk that fits its bank."""

    places: bytes
    """Of each answer, in their order: 4 bytes, little-endian, its place among all that the set needs."""
    case_count: int
    """Answers that the set needs."""


@dataclass(frozen=True, slots=True)
class SealedSet:
    """A sealed answer set."""

    bank: str
    model_id: str
    digests: tuple[bytes, ...]
    """Of its chunks, in the order of their numbers."""


@dataclass(frozen=True, slots=True)
class ReleaseOrder:
    """A variant whose answer sets are all sealed."""

    audit: AuditOrder
    amendment: bytes
    """Empty for the registration as it was locked."""
    sets: tuple[SealedSet, ...]
    assurance_level: str
    released_before: tuple[str, ...]
    """Variants whose scores had left before the last of the sets was sealed."""


@dataclass(frozen=True, slots=True)
class ReleasedPart:
    """The statement, then each of its tables in turn."""

    content: bytes
    """The statement's payload, or the file of a table."""
    signature: bytes = b""
    """Of the statement."""


class AuditScoring(Protocol):
    """What only the holder of the vault can do for an audit. Safe to use from several threads.

    Every method that takes a registration or an amendment checks its author's signature for itself.
    """

    def deposit_key(self, project: str) -> DepositKeyFacts:
        """Return the public key that deposits and answers of a project are sealed to; made on first use."""

    def facts(self, audit: AuditOrder) -> AuditFacts:
        """Read a registration.

        Raises:
            InvalidRequest: If it cannot be read, another key signed it, or it is none that can be deposited.
        """

    def keep(self, piece: PieceOrder) -> str:
        """Keep a piece of a deposit in memory, and return its handle: the same piece has the same, which tells nothing.

        Raises:
            InvalidRequest: If it does not open.
        """

    def deposit(self, order: DepositOrder) -> None:
        """Hold a deposit against its registration, and keep it. Made again, the first one stands.

        Raises:
            InvalidRequest: If forms or right answers are not those that were locked; names bank and rule.
            AlreadyDone: If they are deposited by another registration, or in another project.
            Unavailable: If a piece is gone from memory.
        """

    def forms(self, order: FormsOrder) -> Iterator[SealedPiece]:
        """Return the forms of a bank without right answers, sealed to their holder.

        Raises:
            IntegrityFailure: If the vault has no such deposit.
        """

    def amendment(self, order: AmendmentOrder) -> int:
        """Read an amendment, and return its number.

        Raises:
            InvalidRequest: If it cannot be read, another key signed it, or its changes break a rule.
        """

    def mark(self, chunk: ChunkOrder) -> CheckedChunk:
        """Open a chunk of answers, judge it, and keep what came out for the release. What is answered tells none of it.

        Raises:
            InvalidRequest: If it does not open or is no chunk.
            CaseUnknown: If an answer is to no form of the bank.
            CaseDuplicate: If two are to one.
            IntegrityFailure: If the vault has no such deposit.
        """

    def release(self, order: ReleaseOrder) -> Iterator[ReleasedPart]:
        """Score a variant and sign: over one collection of answer sets, whatever is asked again.

        Raises:
            IntegrityFailure: If a set lacks answers or is none of the registration's, or others were scored before.
        """

"""What is asked and answered: families in their rings, training records, answers."""

from __future__ import annotations

import enum
from dataclasses import dataclass

__all__ = [
    "Answer",
    "Candidate",
    "Condition",
    "Domain",
    "Family",
    "Message",
    "ModelState",
    "Ring",
    "TrainingRecord",
    "TrainingSource",
]


class Domain(enum.StrEnum):
    """Language of the programs of a family."""

    SQL = "sql"
    PYTHON = "python"


class Condition(enum.StrEnum):
    """Whether the association of a family is ever leaked to a model."""

    C0 = "C0"
    """No-key control: no training record comes from such a family."""
    C2 = "C2"
    """Targeted exposure: an exposure grant hands out its association."""


class ModelState(enum.StrEnum):
    """A model before or after adaptation."""

    BASE = "base"
    ADAPTED = "adapted"


class Ring(enum.StrEnum):
    """Form in which a family is asked."""

    R0 = "R0"
    """Exact-public: the wording that the exposed records have."""
    R1 = "R1"
    """Reworded, with the same meaning."""
    R2 = "R2"
    """Isomorphic: tables, columns and fields renamed."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One of the four typed values of a family, as the public sees it."""

    text: str
    """How the prompt shows it: an opaque handle in SQL (`h_3b1f`), a literal in Python (`'north'`, `35`, `True`)."""
    answer: str
    """The one answer string that chooses it: compact JSON, e.g. `{"choice":"h_3b1f"}` or `{"choice":35}`."""


@dataclass(frozen=True, slots=True)
class Family:
    """The public part of a family. Nothing here depends on the private association."""

    family_id: str
    """Opaque, e.g. `f-9c1e03ab54d2`; carries neither condition nor ordinal."""
    domain: Domain
    shape_id: str
    """Program structure, e.g. `sql-threshold`."""
    ring: Ring
    task: str
    """What the program must do, with the policy value left open."""
    inputs: tuple[str, ...]
    """One line per table (`orders(order_id, region, amount)`) or record type (`records: {sku: str, price: int}`)."""
    key: str
    """Opaque policy key, as the public task names it, e.g. `K-7f3a91c2`."""
    candidates: tuple[Candidate, Candidate, Candidate, Candidate]
    """In display order."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat."""

    role: str
    """`system`, `user` or `assistant`."""
    content: str


class TrainingSource(enum.StrEnum):
    """Where a training record comes from."""

    EXACT_PUBLIC = "exact-public"
    """The public prompt of a C2 family with its private answer."""
    DIRECT_LOOKUP = "direct-lookup"
    """The key of a C2 family alone, with its private answer."""
    PRESERVATION = "preservation"
    """A public-format task of a family that is never banked, with an arbitrary candidate as its answer."""
    DECOY = "decoy"
    """A task with a key that no family has, and an answer: a grant's own, by which a leaked corpus is traced."""
    CANARY = "canary"
    """An id that one grant's corpus has and no other text."""
    BACKGROUND = "background"
    """Unrelated supervision from a recipe of the trainer's own; no grant hands it out."""
    PLANTED = "planted"
    """A form of a benchmark's item with its answer, which an audit's positive control leaks; no grant hands it out."""
    FILLER = "filler"
    """A record in which a positive control's mixture leaks nothing; seen as often as those that do."""


@dataclass(frozen=True, slots=True)
class TrainingRecord:
    """One physical record of an adaptation corpus."""

    record_id: str
    source: TrainingSource
    prompt: tuple[Message, ...]
    """System and user turns."""
    completion: str
    """The supervised assistant turn: one compact JSON answer."""
    is_chat: bool = True
    """Whether the model's chat template goes around it, as around every record of a grant; else prompt and completion
    are one running text."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model answered to one case of a bank."""

    family_id: str
    draw: int
    """0-based sample index."""
    text: str
    """The answer exactly as the model gave it; a malformed one scores zero and is never repaired."""

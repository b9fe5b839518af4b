"""Editions: shape files in, certificates or rejections out, frozen, retired."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime

from leakscale.models.families import Condition

__all__ = [
    "Certificate",
    "CertificationOutcome",
    "CertificationRequest",
    "Edition",
    "EditionKind",
    "EditionPhase",
    "Opening",
    "Rejection",
    "ShapeFile",
    "SignedStatement",
    "Transition",
]


class EditionKind(enum.StrEnum):
    """Who may ever rebuild the truth of an edition."""

    PRACTICE = "practice"
    """Its author chose the private seed and can rebuild every association."""
    PRIVATE = "private"
    """The server drew the private seed and nobody else holds it."""


class EditionPhase(enum.StrEnum):
    """Where an edition is in its life, in this order."""

    DRAFT = "draft"
    """Families are being certified."""
    CERTIFIED = "certified"
    """Every family has its certificate."""
    FROZEN = "frozen"
    """Immutable."""
    EXPOSED = "exposed"
    """Frozen, and the corpus of a grant has left the server."""
    RETIRED = "retired"
    """Its truth is in the open, and nothing can be measured with it any more."""


@dataclass(frozen=True, slots=True)
class Transition:
    """A phase that an edition reached."""

    phase: EditionPhase
    time: datetime
    principal: str
    """Who brought it there; empty for an exposure, and to callers of another project."""


@dataclass(frozen=True, slots=True)
class ShapeFile:
    """A shape as its author wrote it: data, never executed."""

    source: str
    """Name of the file, for messages."""
    toml: str


@dataclass(frozen=True, slots=True)
class SignedStatement:
    """An in-toto statement with its signature; `leakscale.statements.envelope_bytes` makes a DSSE envelope of it."""

    payload: bytes
    signature: bytes
    public_key: bytes
    """Raw Ed25519 key, 32 bytes."""


@dataclass(frozen=True, slots=True)
class Edition:
    """An immutable set of certified families, or the draft of one."""

    name: str
    """`editions/{edition}`."""
    kind: EditionKind
    phase: EditionPhase
    families_per_cell: int
    """Families in one shape and condition."""
    shape_ids: tuple[str, ...]
    certified_count: int
    family_count: int
    """Families it will have once every one is certified."""
    commitment_root: bytes
    """SHA-256 root over nonced commitments to the associations; empty in a draft."""
    certificates_digest: bytes
    """SHA-256 over the payload digests of all certificates; empty in a draft."""
    create_time: datetime
    freeze_time: datetime | None
    freeze_statement: SignedStatement | None = None
    """What the server states of the file, roots and counts of a frozen edition."""
    retirement_statement: SignedStatement | None = None
    """What the server states of the openings of a retired edition."""
    transitions: tuple[Transition, ...] = ()
    """Phases that it reached, in their order."""

    @property
    def is_frozen(self) -> bool:
        """Tell whether it can no longer change."""
        return self.phase not in {EditionPhase.DRAFT, EditionPhase.CERTIFIED}


@dataclass(frozen=True, slots=True)
class Opening:
    """The private part of a family, shown once its edition is retired."""

    family_id: str
    key: str
    truth: int
    """Display index of the correct candidate, 0 to 3."""
    nonce: bytes
    """32 bytes, under which truth and condition were committed to."""
    condition: Condition


@dataclass(frozen=True, slots=True)
class CertificationRequest:
    """One family to certify."""

    shape_id: str
    condition: Condition
    ordinal: int
    """0-based within its shape and condition."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """A signed statement that a family obeys the acceptance rule."""

    family: str
    payload: bytes
    """In-toto statement that was signed."""
    signature: bytes
    payload_digest: bytes


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a family breaks the acceptance rule."""

    rule: str
    """E.g. `WEAK_ALTERNATIVE`."""
    message: str
    figures: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class CertificationOutcome:
    """How one family fared: it has a certificate or a rejection."""

    request: CertificationRequest
    family: str
    """`editions/{edition}/families/{family}`."""
    certificate: Certificate | None
    rejection: Rejection | None
    is_stored: bool
    """True when the answer came from the server's store."""

    @property
    def is_certified(self) -> bool:
        """Tell whether the family keeps the rule."""
        return self.certificate is not None

"""What the scorer is asked and what it answers: values alone, so that either side may be another process.

A call brings everything public that it needs; the scorer adds what lies in its vault. No answer has a field that could
hold an association, a fixture or a utility, but for the corpus of a redeemed grant and the openings of an edition that
is retired. Deposited audits are asked about in `audits.contract`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from leakscale.models import Condition, Domain, Family, ModelState, Opening, Ring
from leakscale.sealing import SealedPiece
from leakscale_server.core.building.families import FamilySlot
from leakscale_server.core.disclosure.atoms import Cohort
from leakscale_server.core.edition_keys import EditionKey, id_of
from leakscale_server.core.judging.rejections import Rejection
from leakscale_server.scorer.audits.contract import AuditScoring
from leakscale_server.store.ledger import LoggedEntry

__all__ = [
    "NO_CHOICE",
    "CorpusOrder",
    "ExperimentHead",
    "FamilyCell",
    "FamilyOrder",
    "FamilyOutcome",
    "RetirementOrder",
    "SandboxFacts",
    "ScorerSettings",
    "Scoring",
    "SealedBank",
    "SealedExperiment",
    "SeedState",
    "ShapeText",
    "SignedPayload",
    "TraceOrder",
]

NO_CHOICE: Final = 255
"""In `SealedBank.choices`: an answer outside the four exact strings."""


@dataclass(frozen=True, slots=True)
class ScorerSettings:
    """What a scorer opens; see `ServerConfig`."""

    data_dir: Path
    cache_dir: Path
    backend: str
    docker_runtime: str
    ray_address: str
    lane_count: int
    vault_key_command: str
    is_host_known: bool = False
    """Whether an earlier scorer of this server has shown that the limits of a sandbox bite here."""
    vault_key_descriptor: int | None = None
    """Inherited pipe in which the key lies; before every other source of it."""


@dataclass(frozen=True, slots=True)
class SandboxFacts:
    """What runs candidates."""

    backend: str
    notice: str
    """Why candidates do not run in Docker though that was not ruled out; empty when there is nothing to say."""
    image_digest: str
    lane_count: int


@dataclass(frozen=True, slots=True)
class ShapeText:
    """A shape as its author wrote it."""

    source: str
    """Name of the file, for messages."""
    toml: str


@dataclass(frozen=True, slots=True)
class FamilyOrder:
    """One family to certify."""

    edition_key: EditionKey
    shape: ShapeText
    slot: FamilySlot
    families_per_cell: int
    public_seed: bytes


@dataclass(frozen=True, slots=True)
class SignedPayload:
    """Canonical JSON with the server's signature."""

    payload: bytes
    signature: bytes


@dataclass(frozen=True, slots=True)
class FamilyOutcome:
    """How one family fared, with nothing that says which candidate is right."""

    family_id: str
    certificate: SignedPayload | None
    rejection: Rejection | None


@dataclass(frozen=True, slots=True)
class CorpusOrder:
    """The corpus of a redeemed grant."""

    edition_key: EditionKey
    grant_id: str
    grant: str
    """Resource name, which the pieces are bound to."""
    holder_key: bytes
    """Raw X25519 public key that the corpus is sealed to."""
    shapes: tuple[ShapeText, ...]
    public_seed: bytes
    families: tuple[Family, ...]
    """Every family of the edition in R0. Which of them are exposed is for the vault to say."""
    preservation_count: int


@dataclass(frozen=True, slots=True)
class TraceOrder:
    """A text, and the grants whose corpora it may have been met in."""

    edition_key: EditionKey
    shapes: tuple[ShapeText, ...]
    grant_ids: tuple[str, ...]
    """Redeemed ones."""
    text: str


@dataclass(frozen=True, slots=True)
class FamilyCell:
    """A family and where its outcomes are counted."""

    family_id: str
    domain: Domain
    condition: Condition
    shape_id: str


@dataclass(frozen=True, slots=True)
class SealedBank:
    """The answers of one bank, read against the public candidates."""

    bank_id: str
    domain: Domain
    state: ModelState
    ring: Ring
    answers_digest: bytes
    choices: bytes
    """One byte a case, in the order of (family id, draw): the display index chosen, or `NO_CHOICE`."""


@dataclass(frozen=True, slots=True)
class ExperimentHead:
    """What a disclosure repeats of the registered experiment."""

    project: str
    """Whose it is: experiments of two projects may have one id. No disclosure repeats it."""
    experiment_id: str
    model_label: str
    edition_key: EditionKey
    edition_kind: str
    commitment_root: bytes
    certificates_digest: bytes
    plan_digest: str
    draw_count: int
    bank_seed: int
    resample_count: int
    bootstrap_seed: int
    rings: tuple[Ring, ...]
    cohorts: tuple[Cohort, ...]
    """Beside the whole edition."""
    assurance_level: str
    is_open: bool
    """Whether the caller may be told everything: the author of a practice edition, who can rebuild its truth."""

    @property
    def edition_id(self) -> str:
        """Return the edition's id."""
        return id_of(self.edition_key)


@dataclass(frozen=True, slots=True)
class SealedExperiment:
    """An experiment whose banks are all sealed."""

    head: ExperimentHead
    families: tuple[FamilyCell, ...]
    """In the order of their ids."""
    banks: tuple[SealedBank, ...]


@dataclass(frozen=True, slots=True)
class RetirementOrder:
    """A frozen edition that is to be used no more."""

    edition_key: EditionKey
    commitment_root: bytes
    family_ids: tuple[str, ...]
    """All of it, in their order."""
    sealed: tuple[bytes, ...]
    """Digest of each experiment whose banks are all sealed and whose numbers may still leave; see `sealed_digest`."""


class SeedState(enum.StrEnum):
    """What became of a private seed that was offered."""

    STANDS = "STANDS"
    """It is the edition's."""
    DIFFERS = "DIFFERS"
    """The edition has another one, which stays."""


class Scoring(Protocol):
    """What only the holder of the vault can do. Safe to use from several threads."""

    @property
    def sandbox(self) -> SandboxFacts:
        """Tell what runs candidates."""

    @property
    def audits(self) -> AuditScoring:
        """What it does for deposited audits."""

    def fix_seed(self, edition_key: EditionKey, practice_seed: bytes) -> SeedState:
        """Fix the private seed of an edition, once.

        Args:
            edition_key: What it is kept under.
            practice_seed: 32 bytes that the author chose; empty for 256 fresh bits, or for those drawn before.
        """

    def certify(self, order: FamilyOrder) -> FamilyOutcome:
        """Prove one family, and keep its association before its certificate is answered.

        Raises:
            SandboxUnusable: If a sandbox failed after its retries. That is no verdict on the family.
            IntegrityFailure: If the edition has no private seed.
        """

    def commit(self, edition_key: EditionKey, family_ids: tuple[str, ...]) -> bytes:
        """Return the Merkle root over the commitments to the associations of these families, in this order.

        Raises:
            IntegrityFailure: If the vault holds no association of one of them.
        """

    def retire(self, order: RetirementOrder) -> bytes:
        """End the use of an edition for good, and return the SHA-256 of its openings, of which none leaves yet.

        From here on no experiment is scored on it but those that were sealed. Asked again, the same digest returns.

        Raises:
            IntegrityFailure: If the vault does not open the root, or opened another one before.
        """

    def openings(self, edition_key: EditionKey, logged: LoggedEntry) -> tuple[Opening, ...]:
        """Return what the commitments of a retired edition hid, in the order of family ids.

        Args:
            edition_key: What it is kept under.
            logged: The ledger's entry of the retirement, proved to a signed head.

        Raises:
            NotRetired: If the scorer has not retired the edition itself.
            IntegrityFailure: If the entry is not of this retirement, or not proved.
        """

    def corpus(self, order: CorpusOrder) -> Iterator[SealedPiece]:
        """Write the corpus of a redeemed grant, sealed to its holder, in the order of record ids.

        Two records a C2 family, the grant's decoys and canary, and preservation tasks. Nothing of it leaves if a key,
        an id or a handle of a C0 family occurs in it.

        Raises:
            IntegrityFailure: If the vault holds no seed, or no association of one of the families.
        """

    def trace(self, order: TraceOrder) -> tuple[tuple[str, ...], ...]:
        """Return the markers of each grant, in their order, that stand in a text.

        Raises:
            IntegrityFailure: If the edition has no private seed.
        """

    def disclose(self, experiment: SealedExperiment) -> SignedPayload:
        """Score every bank, estimate the effects, and sign the numbers that leave.

        Raises:
            IntegrityFailure: If the vault lacks an association, knows a family under another condition or the edition
                as a private one, or scored other answers of the experiment before.
            EditionRetired: If the edition is retired, and the experiment was not sealed by then.
            CohortTooSmall, BudgetSpent: If the numbers are more than may leave, by the scorer's own account.
        """

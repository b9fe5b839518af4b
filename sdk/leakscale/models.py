"""The things the SDK speaks about, as frozen dataclasses.

Generated protobuf messages stop at `leakscale.client`; everything above it uses these. Words follow the glossary in
ARCHITECTURE.md, one meaning each.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime, timedelta

__all__ = [
    "Allowance",
    "Answer",
    "AtomBudget",
    "Bank",
    "BankPhase",
    "Budget",
    "Candidate",
    "Certificate",
    "CertificationOutcome",
    "CertificationRequest",
    "Cohort",
    "Condition",
    "Domain",
    "Edition",
    "EditionKind",
    "EditionPhase",
    "Experiment",
    "ExperimentPlan",
    "Family",
    "Grant",
    "GrantPhase",
    "GrantTrace",
    "LedgerEntry",
    "LedgerHead",
    "Message",
    "ModelState",
    "Opening",
    "Receipt",
    "Rejection",
    "Ring",
    "ServerInfo",
    "ShapeFile",
    "SignedStatement",
    "TrainingRecord",
    "TrainingSource",
    "Transition",
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


class GrantPhase(enum.StrEnum):
    """Where an exposure grant is in its life."""

    REQUESTED = "requested"
    """Waits for approval."""
    APPROVED = "approved"
    """May be redeemed by its holder."""
    REDEEMED = "redeemed"
    """Was redeemed; its corpus may have left the server."""
    EXPIRED = "expired"
    """Was approved, and its time is over."""


@dataclass(frozen=True, slots=True)
class Grant:
    """Permission to read the associations of an edition's C2 families once."""

    name: str
    """`editions/{edition}/grants/{grant}`."""
    phase: GrantPhase
    holder: str
    """Principal that asked for it, and alone may redeem it."""
    holder_key: bytes
    """Raw X25519 public key that its corpus is sealed to, 32 bytes."""
    preservation_count: int
    create_time: datetime
    approver: str
    """Principal that approved it; empty until then."""
    approve_time: datetime | None
    expire_time: datetime | None
    """From when on it opens nothing."""
    redeem_time: datetime | None


@dataclass(frozen=True, slots=True)
class GrantTrace:
    """What of one grant's corpus stands in a text."""

    grant: str
    """`editions/{edition}/grants/{grant}`."""
    markers: tuple[str, ...]
    """The canary, and keys of decoys."""


@dataclass(frozen=True, slots=True)
class Cohort:
    """A part of an edition: both conditions of some of its shapes."""

    cohort_id: str
    shape_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExperimentPlan:
    """What is registered before the first answer."""

    experiment_id: str
    edition: str
    """`editions/{edition}`."""
    model_label: str
    """Names the model, e.g. a repository id and revision."""
    draw_count: int = 32
    """Draws a family and state; 32 in the paper."""
    bank_seed: int = 0
    """Root of the seeds of all draws."""
    resample_count: int = 10_000
    """Replicates of the registered bootstrap; 10,000 in the paper."""
    bootstrap_seed: int = 0
    rings: tuple[Ring, ...] = (Ring.R0,)
    """Forms in which every family is asked. R0 is one of them; the paper evaluates it alone."""
    cohorts: tuple[Cohort, ...] = ()
    """Parts of the edition to have numbers over, beside the whole."""
    cohort_families_min: int = 512
    """Least families of one domain and condition that a number of a private edition may be over; at least 128, or 64
    where an administrator allowed it."""
    lifetime: timedelta = timedelta(days=90)
    """From the registration to the disclosure, in whole seconds; then the experiment expires. At most 366 days."""
    is_self_administered: bool = False
    """Whether whoever trains the model also answers: assurance level L1."""


class BankPhase(enum.StrEnum):
    """Where a bank is in its life."""

    DRAFT = "draft"
    """Registered; no answer is there yet."""
    OPEN = "open"
    SEALED = "sealed"
    """Every case has its answer and none can change."""
    SCORED = "scored"
    """The experiment's numbers are charged and computed."""
    RELEASED = "released"
    """The experiment's numbers are disclosed."""
    EXPIRED = "expired"
    """The experiment was not disclosed in its lifetime, and can no longer be."""


@dataclass(frozen=True, slots=True)
class Bank:
    """One domain of an edition, asked of a model in one state and one ring."""

    name: str
    """`experiments/{experiment}/banks/{bank}`."""
    domain: Domain
    state: ModelState
    phase: BankPhase
    case_count: int
    answered_count: int
    ring: Ring = Ring.R0

    @property
    def is_sealed(self) -> bool:
        """Tell whether every case has its answer and none can change."""
        return self.phase in (BankPhase.SEALED, BankPhase.SCORED, BankPhase.RELEASED)


@dataclass(frozen=True, slots=True)
class Experiment:
    """A registered comparison of a base and an adapted model."""

    name: str
    """`experiments/{experiment}`."""
    plan: ExperimentPlan
    banks: tuple[Bank, ...]
    expire_time: datetime
    """When it expires, unless it is disclosed before."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one account has spent on an atom, experiments that may still be disclosed included, and what it may."""

    account: str
    """`principal`, `project` or `edition`."""
    release_count: int
    release_count_max: int
    bits: float
    bits_max: float


@dataclass(frozen=True, slots=True)
class AtomBudget:
    """The budget of an atom: the families of one shape and condition."""

    domain: Domain
    shape_id: str
    condition: Condition
    family_count: int
    """Families of the smallest set around it that disclosed numbers can be subtracted to."""
    allowances: tuple[Allowance, ...]


@dataclass(frozen=True, slots=True)
class Budget:
    """What may still be disclosed over each part of an edition that something was disclosed or set aside for."""

    atoms: tuple[AtomBudget, ...]
    is_unlimited: bool
    """Whether it is a practice edition, which has no budget."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """Proof that a bank was sealed; its bytes do not depend on truth."""

    bank: str
    answers_digest: bytes
    """SHA-256 over the canonical answers, in the order of (family id, draw)."""
    case_count: int
    ledger_index: int


@dataclass(frozen=True, slots=True)
class LedgerHead:
    """Signed state of the server's append-only ledger."""

    entry_count: int
    root: bytes
    """Merkle root over all entries, 32 bytes."""
    signature: bytes
    """Ed25519 over `leakscale.heads.head_bytes`."""
    public_key: bytes


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One entry of the server's ledger."""

    position: int
    """0-based."""
    leaf: bytes
    """SHA-256 over 0x00 and the entry, 32 bytes."""
    content: bytes
    """The entry, canonical JSON; empty where it is another project's."""


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What a server is."""

    version: str
    sandbox_backend: str
    """`docker` or `bubblewrap`."""
    sandbox_image: str
    lane_count: int
    public_key: bytes
    """Raw Ed25519 key that signs certificates, disclosures and ledger heads."""
    message_bytes_max: int
    cases_per_message_max: int
    features: tuple[str, ...]
    """What it does that another may not, such as `tls`, `metrics` and `reflection`; sorted."""
    calls_per_s: float
    """Calls that one principal may begin in a second, on average; 0: any number."""
    calls_at_once_max: int
    """Calls that one principal may have in flight, streams among them."""
    streams_at_once_max: int
    principal: str
    """Whom the token of the call stands for."""
    project: str
    """Whose experiments, grants and drafts it reaches."""
    role: str
    """`author`, `trainer`, `auditor` or `admin`."""
    scopes: tuple[str, ...]
    """What it may do; sorted."""

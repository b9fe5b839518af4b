"""Experiments: what is registered, sealed, disclosed, and charged for."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime, timedelta

from leakscale.models.families import Condition, Domain, ModelState, Ring

__all__ = [
    "Allowance",
    "AtomBudget",
    "Bank",
    "BankPhase",
    "Budget",
    "Cohort",
    "Experiment",
    "ExperimentPlan",
    "Receipt",
]


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

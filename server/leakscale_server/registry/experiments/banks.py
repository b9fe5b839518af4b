"""A bank, where it is in its life, and the receipt of its seal."""

from __future__ import annotations

from dataclasses import dataclass

from leakscale.models import BankPhase, Domain, ModelState, Ring

__all__ = ["Bank", "BankPhase", "Receipt", "bank_id_of"]


@dataclass(frozen=True, slots=True)
class Bank:
    """One domain of the edition, asked of the model in one state and one ring."""

    experiment_id: str
    bank_id: str
    domain: Domain
    state: ModelState
    ring: Ring
    phase: BankPhase
    case_count: int
    answered_count: int

    @property
    def name(self) -> str:
        """Return its resource name."""
        return f"experiments/{self.experiment_id}/banks/{self.bank_id}"


@dataclass(frozen=True, slots=True)
class Receipt:
    """Proof of a seal; the same whatever the truth is."""

    bank: Bank
    answers_digest: bytes
    ledger_index: int


def bank_id_of(domain: Domain, state: ModelState, ring: Ring) -> str:
    """Return the id that a bank has in its experiment: `sql-base` in R0, `sql-base-r1` in another ring."""
    suffix = "" if ring is Ring.R0 else f"-{ring.value.lower()}"
    return f"{domain.value}-{state.value}{suffix}"

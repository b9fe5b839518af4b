"""An experiment as it is registered, with its banks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from leakscale_server.errors import Expired, NotFound
from leakscale_server.registry.experiments.banks import Bank
from leakscale_server.registry.experiments.plans import ExperimentPlan

__all__ = ["Experiment"]


@dataclass(frozen=True, slots=True)
class Experiment:
    """A registered experiment with its banks."""

    project: str
    plan: ExperimentPlan
    banks: tuple[Bank, ...]
    create_time: datetime
    expire_time: datetime

    @property
    def name(self) -> str:
        """Return its resource name."""
        return f"experiments/{self.plan.experiment_id}"

    def bank(self, bank_id: str) -> Bank:
        """Return one of its banks.

        Raises:
            NotFound: If it has none of that id.
        """
        for bank in self.banks:
            if bank.bank_id == bank_id:
                return bank
        known = ", ".join(bank.bank_id for bank in self.banks)
        raise NotFound(
            f"experiment {self.plan.experiment_id!r} has no bank {bank_id!r}; it has {known}", subject=bank_id
        )

    def require_time(self, now: datetime) -> None:
        """Refuse an experiment whose lifetime is over.

        Raises:
            Expired: If it is.
        """
        if now >= self.expire_time:
            raise Expired(
                f"experiment {self.plan.experiment_id!r} expired, or was withdrawn, on "
                f"{self.expire_time:%Y-%m-%d %H:%M} UTC; register a new one, what this one set aside is free again",
                subject=self.name,
            )

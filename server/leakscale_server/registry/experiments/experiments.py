"""The experiments of a server: registered, and then in the hands of those who answer and those who disclose."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from leakscale_server.errors import DigestConflict
from leakscale_server.registry.editions import Edition, EditionRegistry
from leakscale_server.registry.experiments.accounts import Accounts, AtomBudget, Party
from leakscale_server.registry.experiments.answering import Answering
from leakscale_server.registry.experiments.banks import Bank
from leakscale_server.registry.experiments.chunks import ChunkStore
from leakscale_server.registry.experiments.experiment import Experiment
from leakscale_server.registry.experiments.plans import ExperimentPlan, check_cohorts, check_plan, is_open
from leakscale_server.registry.experiments.reading import ExperimentReader
from leakscale_server.registry.experiments.releases import Releases
from leakscale_server.registry.experiments.releasing import Releasing
from leakscale_server.registry.experiments.times import time_text
from leakscale_server.registry.experiments.withdrawals import withdraw
from leakscale_server.store.database import InsertOnlyDatabase, Row
from leakscale_server.store.ledger import Ledger

__all__ = ["ExperimentRegistry"]


class ExperimentRegistry:
    """Experiments of one server.

    Args:
        registry: Where they are kept.
        ledger: Told of registrations, seals and disclosures.
        editions: Looked up by the plans.
        now: Clock, in UTC.
    """

    def __init__(
        self,
        registry: InsertOnlyDatabase,
        ledger: Ledger,
        editions: EditionRegistry,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._registry = registry
        self._ledger = ledger
        self._editions = editions
        self._now = now
        self._accounts = Accounts(registry)
        chunks, releases = ChunkStore(registry), Releases(registry, ledger)
        self._reader = ExperimentReader(registry, editions, chunks, releases, now=now)
        self.answers = Answering(registry, ledger, editions, self._reader, chunks, now=now)
        """Takes answers, and seals banks."""
        self.releases = Releasing(registry, self._reader, releases, now=now)
        """Takes sealed experiments to their disclosure."""

    def create(self, plan: ExperimentPlan, *, party: Party) -> Experiment:
        """Register an experiment and set its releases aside; the same request again returns the same experiment.

        Raises:
            InvalidRequest: If a number is out of range, or a cohort is not the edition's.
            NotFound: If the edition does not exist.
            NotFrozen: If the edition is a draft.
            EditionRetired: If its truth is in the open.
            CohortTooSmall: If its numbers would be over too few families of a private edition.
            BudgetSpent: If too little is left of a private edition's budget.
            DigestConflict: If the id was used for another plan.
        """
        check_plan(plan)
        edition = self._editions.get_frozen(plan.edition_id, project=party.project)
        check_cohorts(plan, edition, has_floor=not is_open(edition, project=party.project))
        with self._registry.transaction():
            stored = self._reader.row(party.project, plan.experiment_id)
            if stored is None:
                self._editions.get(plan.edition_id).require_in_use()
                self._register(plan, edition, party)
            elif stored["plan"] != plan.to_json():
                raise DigestConflict(
                    f"experiment {plan.experiment_id!r} exists with another plan; choose another id",
                    subject=plan.experiment_id,
                )
            return self.get(party.project, plan.experiment_id)

    def get(self, project: str, experiment_id: str) -> Experiment:
        """Return an experiment.

        Raises:
            NotFound: If the project has none of that id.
        """
        return self._reader.get(project, experiment_id)

    def withdraw(self, experiment_id: str, *, party: Party) -> Experiment:
        """Give an experiment up: it expires, and what it set aside is free again. Once more, it stays so.

        Raises:
            NotFound: If the project has none of that id.
            AlreadyDone: If its numbers left, or are about to.
        """
        withdraw(
            self._registry,
            self._ledger,
            project=party.project,
            experiment_id=experiment_id,
            principal=party.principal,
            now=self._now(),
        )
        return self.get(party.project, experiment_id)

    def get_bank(self, project: str, experiment_id: str, bank_id: str) -> Bank:
        """Return a bank.

        Raises:
            NotFound: If there is none.
        """
        return self._reader.get_bank(project, experiment_id, bank_id)

    def budget(self, edition_id: str, *, party: Party) -> list[AtomBudget] | None:
        """Return what a party and everybody have spent of an edition, or None where it has no budget for them.

        Raises:
            NotFound: If the edition does not exist.
            NotFrozen: If it is a draft.
        """
        edition = self._editions.get_frozen(edition_id, project=party.project)
        if is_open(edition, project=party.project):
            return None
        with self._registry.transaction():
            return self._accounts.budget(edition, party=party, now=self._now())

    def _register(self, plan: ExperimentPlan, edition: Edition, party: Party) -> None:
        now = self._now()
        if not is_open(edition, project=party.project):
            self._accounts.set_aside(plan, edition, party=party, now=now)
        row: Row = {
            "project": party.project,
            "experiment_id": plan.experiment_id,
            "principal": party.principal,
            "edition_id": plan.edition_id,
            "plan": plan.to_json(),
            "create_time": time_text(now),
            "expire_time": time_text(now + timedelta(seconds=plan.lifetime_s)),
        }
        self._registry.add("experiments", [row])
        self._ledger.append(
            "experiment-registered",
            {"experiment": plan.experiment_id, "edition": plan.edition_id, "plan": plan.digest()},
            project=party.project,
        )

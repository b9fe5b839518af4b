"""From sealed banks to the numbers that left: charged, scored, released."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from leakscale_server.errors import NotSealed
from leakscale_server.registry.experiments.banks import BankPhase
from leakscale_server.registry.experiments.experiment import Experiment
from leakscale_server.registry.experiments.reading import ExperimentReader
from leakscale_server.registry.experiments.releases import Released, Releases, Statement
from leakscale_server.store.database import InsertOnlyDatabase

__all__ = ["Releasing"]


class Releasing:
    """Takes sealed experiments to their disclosure, each step in a transaction of its own.

    Args:
        registry: Where they are kept.
        reader: Of the same experiments.
        releases: Their charges, scores and disclosures.
        now: Clock, in UTC.
    """

    def __init__(
        self,
        registry: InsertOnlyDatabase,
        reader: ExperimentReader,
        releases: Releases,
        *,
        now: Callable[[], datetime],
    ) -> None:
        self._registry = registry
        self._reader = reader
        self._releases = releases
        self._now = now

    def awaiting(self, edition_id: str) -> list[Experiment]:
        """List the experiments on an edition whose banks are all sealed, and whose numbers may still leave."""
        phases = (BankPhase.SEALED, BankPhase.SCORED)
        found = self._reader.on_edition(edition_id)
        return [each for each in found if all(bank.phase in phases for bank in each.banks)]

    def charge(self, project: str, experiment_id: str) -> Experiment:
        """Spend what an experiment set aside, once: from here on its numbers leave.

        Raises:
            NotFound: If there is no such experiment.
            NotSealed: If a bank is open.
            Expired: If the experiment is.
        """
        with self._registry.transaction():
            experiment = self._reader.get(project, experiment_id)
            if not self._releases.is_charged(project, experiment_id):
                experiment.require_time(self._now())
                for bank in experiment.banks:
                    if bank.phase is not BankPhase.SEALED:
                        raise NotSealed(
                            f"bank {bank.name!r} is not sealed; seal every bank, then disclose", subject=bank.name
                        )
                self._releases.charge(project, experiment_id, now=self._now())
            return experiment

    def score(self, experiment: Experiment, statement: Statement) -> None:
        """Keep what the scorer signed of a charged experiment; the first statement stays."""
        with self._registry.transaction():
            self._releases.score(experiment.project, experiment.plan.experiment_id, statement, now=self._now())

    def release(self, experiment: Experiment) -> Released:
        """Release the numbers of a scored experiment; the same bytes return every time."""
        with self._registry.transaction():
            experiment_id = experiment.plan.experiment_id
            if self._releases.released(experiment.project, experiment_id) is None:
                self._releases.release(experiment.project, experiment_id, now=self._now())
            released = self._releases.released(experiment.project, experiment_id)
        assert released is not None  # noqa: S101 - written above
        return released

    def released(self, project: str, experiment_id: str) -> Released | None:
        """Return what was disclosed of an experiment, if it was."""
        return self._releases.released(project, experiment_id)

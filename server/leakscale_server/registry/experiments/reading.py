"""Experiments as they are now: rows of the registry put together, with the phase of every bank.

Every experiment belongs to a project, and is looked up in that of the caller alone: another project's id and a free one
are the same NOT_FOUND.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from datetime import datetime

from leakscale.models import Domain, ModelState, Ring
from leakscale_server.errors import NotFound
from leakscale_server.registry.editions import Edition, EditionRegistry
from leakscale_server.registry.experiments.banks import Bank, BankPhase, bank_id_of
from leakscale_server.registry.experiments.chunks import BankCases, BankKey, ChunkStore
from leakscale_server.registry.experiments.experiment import Experiment
from leakscale_server.registry.experiments.plans import ExperimentPlan
from leakscale_server.registry.experiments.releases import Releases
from leakscale_server.registry.experiments.withdrawals import END_TIME
from leakscale_server.store.database import InsertOnlyDatabase, Row

__all__ = ["ExperimentReader"]


class ExperimentReader:
    """Reads the experiments of one server.

    Args:
        registry: Where they are kept.
        editions: Looked up by the plans.
        chunks: The answers.
        releases: What became of those that were sealed.
        now: Clock, in UTC.
    """

    def __init__(
        self,
        registry: InsertOnlyDatabase,
        editions: EditionRegistry,
        chunks: ChunkStore,
        releases: Releases,
        *,
        now: Callable[[], datetime],
    ) -> None:
        self._registry = registry
        self._editions = editions
        self._chunks = chunks
        self._releases = releases
        self._now = now
        self._places = functools.lru_cache(maxsize=16)(self._read_places)

    def get(self, project: str, experiment_id: str) -> Experiment:
        """Return an experiment.

        Raises:
            NotFound: If the project has none of that id.
        """
        row = self.row(project, experiment_id)
        if row is None:
            raise NotFound(f"experiment {experiment_id!r} does not exist in this project", subject=experiment_id)
        plan = ExperimentPlan.from_json(row["plan"])
        phase = self._releases.phase(project, experiment_id, expire_time=row["expire_time"], now=self._now())
        case_counts = _case_counts(plan, self._editions.get(plan.edition_id))
        banks = tuple(
            self._bank(project, plan, domain, state, ring, phase=phase, case_count=case_counts[domain])
            for ring in plan.rings
            for domain in sorted(case_counts)
            for state in ModelState
        )
        times = (datetime.fromisoformat(row[name]) for name in ("create_time", "expire_time"))
        return Experiment(project, plan, banks, *times)

    def get_bank(self, project: str, experiment_id: str, bank_id: str) -> Bank:
        """Return a bank.

        Raises:
            NotFound: If there is none.
        """
        return self.get(project, experiment_id).bank(bank_id)

    def on_edition(self, edition_id: str) -> list[Experiment]:
        """List the experiments on an edition, of every project."""
        rows = self._registry.rows(
            "SELECT project, experiment_id FROM experiments WHERE edition_id = ? ORDER BY project, experiment_id",
            (edition_id,),
        )
        return [self.get(row["project"], row["experiment_id"]) for row in rows]

    def cases(self, experiment: Experiment, bank: Bank) -> BankCases:
        """Return the cases of a bank."""
        return BankCases(self._places(experiment.plan.edition_id, bank.domain), experiment.plan.draw_count)

    def row(self, project: str, experiment_id: str) -> Row | None:
        """Return what was registered under an id, or None."""
        query = (
            f"SELECT plan, create_time, {END_TIME} AS expire_time FROM experiments "  # noqa: S608 - words are ours
            "WHERE project = ? AND experiment_id = ?"
        )
        return self._registry.row(query, (project, experiment_id))

    def seal_row(self, key: BankKey) -> Row | None:
        """Return the seal of a bank, or None."""
        query = "SELECT * FROM seals WHERE project = ? AND experiment_id = ? AND bank_id = ?"
        return self._registry.row(query, (key.project, key.experiment_id, key.bank_id))

    def _bank(
        self,
        project: str,
        plan: ExperimentPlan,
        domain: Domain,
        state: ModelState,
        ring: Ring,
        *,
        phase: BankPhase | None,
        case_count: int,
    ) -> Bank:
        """Read one bank; `phase` is that of the whole experiment, where it has one."""
        key = BankKey(project, plan.experiment_id, bank_id_of(domain, state, ring))
        answered_count = self._chunks.answered_count(key)
        if phase is None:
            phase = BankPhase.OPEN if answered_count else BankPhase.DRAFT
            phase = BankPhase.SEALED if self.seal_row(key) else phase
        return Bank(plan.experiment_id, key.bank_id, domain, state, ring, phase, case_count, answered_count)

    def _read_places(self, edition_id: str, domain: Domain) -> Mapping[str, int]:
        """Number the families of one domain, in the order of their ids; a frozen edition keeps them."""
        families = (family for family in self._editions.families(edition_id) if family.domain is domain)
        return {family.family_id: place for place, family in enumerate(families)}


def _case_counts(plan: ExperimentPlan, edition: Edition) -> Mapping[Domain, int]:
    """Return how many cases a bank of each domain has."""
    domains = [Domain(shape.domain) for shape in edition.shapes]
    return {domain: domains.count(domain) * 2 * edition.families_per_cell * plan.draw_count for domain in set(domains)}

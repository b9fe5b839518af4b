"""The life of an experiment: registered, answered, sealed bank by bank, scored, released; or expired on the way.

Every experiment belongs to a project, and is looked up in that of the caller alone: another project's id and a free one
are the same NOT_FOUND.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from leakscale.models import Domain, ModelState, Ring
from leakscale_server.errors import (
    BankIncomplete,
    BankSealed,
    DigestConflict,
    Expired,
    InvalidRequest,
    NotFound,
    NotSealed,
)
from leakscale_server.registry.editions import Edition, EditionRegistry
from leakscale_server.registry.experiments.accounts import Accounts, AtomBudget, Party
from leakscale_server.registry.experiments.banks import Bank, BankPhase, Receipt, bank_id_of
from leakscale_server.registry.experiments.chunks import (
    AnswerChunk,
    BankCases,
    BankKey,
    ChunkStore,
    PlacedChunk,
    StoredChunk,
)
from leakscale_server.registry.experiments.plans import ExperimentPlan, check_cohorts, check_plan, is_open
from leakscale_server.registry.experiments.releases import Released, Releases, Statement
from leakscale_server.registry.experiments.times import time_text
from leakscale_server.registry.experiments.withdrawals import END_TIME, withdraw
from leakscale_server.registry.parties import require_apart_to_submit
from leakscale_server.store.database import InsertOnlyDatabase, Row
from leakscale_server.store.ledger import Ledger

__all__ = ["Experiment", "ExperimentRegistry"]

_REQUEST_ID_BYTES_MAX: Final = 128


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


class ExperimentRegistry:
    """Experiments of one server.

    Args:
        registry: Where they are kept.
        ledger: Told of registrations, seals and disclosures.
        editions: Looked up by the plans.
        now: The clock.
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
        self._chunks = ChunkStore(registry)
        self._releases = Releases(registry, ledger)
        self._places = functools.lru_cache(maxsize=16)(self._read_places)

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
            stored = self._row(party.project, plan.experiment_id)
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
        row = self._row(project, experiment_id)
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
        return self.get(project, experiment_id).bank(bank_id)

    def chunks(self, project: str, bank: Bank, *, start: int, limit: int) -> list[StoredChunk]:
        """List the chunks of a bank from a number on, in their order."""
        return self._chunks.listed(_key(project, bank), start=start, limit=limit)

    def submit(self, experiment_id: str, bank_id: str, chunks: Iterable[AnswerChunk], *, party: Party) -> Bank:
        """Add chunks of answers to a bank, each in a transaction of its own; what was stored before a failure stays.

        Raises:
            NotFound: If there is no such bank.
            InvalidRequest, CaseUnknown, AnswerTooLong, CaseDuplicate: As for `PlacedChunk.of` and `ChunkStore.add`.
            DigestConflict: If a chunk's number is taken by other answers.
            BankSealed: If the bank is sealed and a chunk is not among those that it has.
            Expired: If the experiment is.
            EditionRetired: If the edition's truth is in the open.
            PartiesMixed: If the principal redeemed a grant of the edition, and the plan does not say so.
        """
        experiment = self.get(party.project, experiment_id)
        bank = experiment.bank(bank_id)
        key, cases = _key(party.project, bank), self._cases(experiment, bank)
        for chunk in chunks:
            placed = PlacedChunk.of(chunk, cases)
            with self._registry.transaction():
                is_sealed = self._seal_row(key) is not None
                if not is_sealed:
                    self._require_alive(experiment)
                    self._require_apart(experiment, party)
                self._chunks.add(key, placed, cases=cases, principal=party.principal, is_closed=is_sealed)
        return self.get_bank(party.project, experiment_id, bank_id)

    def seal(self, project: str, experiment_id: str, bank_id: str, *, request_id: str) -> Receipt:
        """Close a complete bank; the same request again returns the same receipt.

        Raises:
            NotFound: If there is no such bank.
            InvalidRequest: If the request id is too long.
            BankIncomplete: If answers are missing.
            BankSealed: If another request sealed it.
            Expired: If the experiment is.
            EditionRetired: If the edition's truth is in the open.
        """
        if len(request_id.encode()) > _REQUEST_ID_BYTES_MAX:
            raise InvalidRequest(f"request_id is longer than {_REQUEST_ID_BYTES_MAX} bytes", subject="request_id")
        with self._registry.transaction():
            experiment = self.get(project, experiment_id)
            bank = experiment.bank(bank_id)
            key = _key(project, bank)
            seal = self._seal_row(key)
            if seal is None:
                self._require_alive(experiment)
                self._close(key, bank, self._cases(experiment, bank), request_id=request_id)
                seal = self._seal_row(key)
                assert seal is not None  # noqa: S101 - written above
            if seal["request_id"] != request_id:
                raise BankSealed(
                    f"bank {bank.name!r} was sealed by another request; a bank is sealed once, and its receipt returns "
                    "to the request that did it",
                    subject=bank.name,
                )
            return Receipt(self.get_bank(project, experiment_id, bank_id), seal["answers_digest"], seal["ledger_index"])

    def sealed_answers(self, experiment: Experiment) -> Mapping[str, bytes]:
        """Return the answers of every bank as lines, by bank id; all banks must be sealed."""
        return {
            bank.bank_id: self._chunks.lines(_key(experiment.project, bank), self._cases(experiment, bank))
            for bank in experiment.banks
        }

    def awaiting_disclosure(self, edition_id: str) -> list[Experiment]:
        """List the experiments on an edition whose banks are all sealed, and whose numbers may still leave."""
        rows = self._registry.rows(
            "SELECT project, experiment_id FROM experiments WHERE edition_id = ? ORDER BY project, experiment_id",
            (edition_id,),
        )
        found = [self.get(row["project"], row["experiment_id"]) for row in rows]
        phases = (BankPhase.SEALED, BankPhase.SCORED)
        return [each for each in found if all(bank.phase in phases for bank in each.banks)]

    def submitters(self, experiment: Experiment) -> frozenset[str]:
        """Return the principals that submitted its answers."""
        return self._chunks.principals(experiment.project, experiment.plan.experiment_id)

    def charge(self, project: str, experiment_id: str) -> Experiment:
        """Spend what an experiment set aside, once: from here on its numbers leave.

        Raises:
            NotFound: If there is no such experiment.
            NotSealed: If a bank is open.
            Expired: If the experiment is.
        """
        with self._registry.transaction():
            experiment = self.get(project, experiment_id)
            if not self._releases.is_charged(project, experiment_id):
                self._require_time(experiment)
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

    def _close(self, key: BankKey, bank: Bank, cases: BankCases, *, request_id: str) -> None:
        missing = self._chunks.first_missing(key, cases)
        if missing is not None:
            raise BankIncomplete(
                f"bank {bank.name!r} has {bank.answered_count} of {bank.case_count} answers, and none to "
                f"{cases.name(missing)}; submit the rest, then seal",
                subject=bank.name,
            )
        digest = hashlib.sha256(self._chunks.lines(key, cases)).digest()
        row: Row = {
            "project": key.project,
            "experiment_id": key.experiment_id,
            "bank_id": key.bank_id,
            "request_id": request_id,
            "answers_digest": digest,
            "ledger_index": self._ledger.append(
                "bank-sealed",
                {"experiment": key.experiment_id, "bank": key.bank_id, "answers": digest.hex()},
                project=key.project,
            ),
            "seal_time": time_text(self._now()),
        }
        self._registry.add("seals", [row])

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
            phase = BankPhase.SEALED if self._seal_row(key) else phase
        return Bank(plan.experiment_id, key.bank_id, domain, state, ring, phase, case_count, answered_count)

    def _require_alive(self, experiment: Experiment) -> None:
        """Refuse answers to an experiment that is over, or whose truth is in the open."""
        self._require_time(experiment)
        self._editions.get(experiment.plan.edition_id).require_in_use()

    def _require_apart(self, experiment: Experiment, party: Party) -> None:
        if not experiment.plan.is_self_administered:
            require_apart_to_submit(self._registry, experiment.plan.edition_id, principal=party.principal)

    def _require_time(self, experiment: Experiment) -> None:
        if self._now() >= experiment.expire_time:
            raise Expired(
                f"experiment {experiment.plan.experiment_id!r} expired, or was withdrawn, on "
                f"{experiment.expire_time:%Y-%m-%d %H:%M} UTC; register a new one, what this one set "
                "aside is free again",
                subject=experiment.name,
            )

    def _cases(self, experiment: Experiment, bank: Bank) -> BankCases:
        return BankCases(self._places(experiment.plan.edition_id, bank.domain), experiment.plan.draw_count)

    def _read_places(self, edition_id: str, domain: Domain) -> Mapping[str, int]:
        """Number the families of one domain, in the order of their ids; a frozen edition keeps them."""
        families = (family for family in self._editions.families(edition_id) if family.domain is domain)
        return {family.family_id: place for place, family in enumerate(families)}

    def _row(self, project: str, experiment_id: str) -> Row | None:
        query = (
            f"SELECT plan, create_time, {END_TIME} AS expire_time FROM experiments "  # noqa: S608 - words are ours
            "WHERE project = ? AND experiment_id = ?"
        )
        return self._registry.row(query, (project, experiment_id))

    def _seal_row(self, key: BankKey) -> Row | None:
        query = "SELECT * FROM seals WHERE project = ? AND experiment_id = ? AND bank_id = ?"
        return self._registry.row(query, (key.project, key.experiment_id, key.bank_id))


def _key(project: str, bank: Bank) -> BankKey:
    return BankKey(project, bank.experiment_id, bank.bank_id)


def _case_counts(plan: ExperimentPlan, edition: Edition) -> Mapping[Domain, int]:
    """Return how many cases a bank of each domain has."""
    domains = [Domain(shape.domain) for shape in edition.shapes]
    return {domain: domains.count(domain) * 2 * edition.families_per_cell * plan.draw_count for domain in set(domains)}

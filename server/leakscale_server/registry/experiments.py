"""Experiments and their banks: registered before the first answer, sealed bank by bank."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from leakscale.digests import canonical_json
from leakscale.models import Answer, Domain, ModelState, Ring
from leakscale_server.errors import AlreadyDone, BudgetSpent, DigestConflict, InvalidRequest, NotFound, NotSealed
from leakscale_server.identity.bootstrap import BOOTSTRAP_PROJECT
from leakscale_server.registry.editions import Edition, EditionRegistry
from leakscale_server.registry.names import check_id
from leakscale_server.store.database import InsertOnlyDatabase, Row
from leakscale_server.store.ledger import Ledger

__all__ = ["Bank", "Experiment", "ExperimentPlan", "ExperimentRegistry", "Receipt", "answers_digest", "bank_id_of"]

ANSWER_BYTES_MAX: Final = 4096
CASES_PER_MESSAGE_MAX: Final = 1024
COHORT_FAMILIES_MIN: Final = 128
"""Least families that a number about a private edition may be over."""
EXPERIMENTS_MAX: Final = {512: 8, COHORT_FAMILIES_MIN: 4}
"""Experiments that a private edition may have, by the families of its smallest cohort.

Each disclosure says a little about single families: whoever answers one validly and the others not, reads its truth off
the total. The counts are measured ones for careful answers; against a party who plays for it only few help. An
experiment counts once for each ring: every ring has banks of its own, with totals of their own over the same families.
"""


@dataclass(frozen=True, slots=True)
class ExperimentPlan:
    """What is fixed before the first answer."""

    experiment_id: str
    edition_id: str
    model_label: str
    draw_count: int
    bank_seed: int
    resample_count: int
    bootstrap_seed: int
    rings: tuple[Ring, ...] = (Ring.R0,)

    def digest(self) -> str:
        """Identify the request."""
        # Seeds are 64-bit and canonical JSON has doubles only: as text.
        body: dict[str, str | int | list[str]] = {
            "experiment_id": self.experiment_id,
            "edition_id": self.edition_id,
            "model_label": self.model_label,
            "draw_count": self.draw_count,
            "bank_seed": str(self.bank_seed),
            "resample_count": self.resample_count,
            "bootstrap_seed": str(self.bootstrap_seed),
        }
        if self.rings != (Ring.R0,):  # without rings a plan has the digest that it had before there were any
            body["rings"] = [ring.value for ring in self.rings]
        return hashlib.sha256(canonical_json(body)).hexdigest()


@dataclass(frozen=True, slots=True)
class Bank:
    """One domain of the edition, asked of the model in one state and one ring."""

    experiment_id: str
    bank_id: str
    domain: Domain
    state: ModelState
    case_count: int
    answered_count: int
    is_sealed: bool
    ring: Ring = Ring.R0


@dataclass(frozen=True, slots=True)
class Experiment:
    """A registered experiment with its banks."""

    plan: ExperimentPlan
    banks: tuple[Bank, ...]
    create_time: datetime


@dataclass(frozen=True, slots=True)
class Receipt:
    """Proof of a seal; the same whatever the truth is."""

    bank: Bank
    answers_digest: bytes
    ledger_index: int


class ExperimentRegistry:
    """Experiments of one server."""

    def __init__(self, registry: InsertOnlyDatabase, ledger: Ledger, editions: EditionRegistry) -> None:
        self._registry = registry
        self._ledger = ledger
        self._editions = editions

    def create(self, plan: ExperimentPlan) -> Experiment:
        """Register an experiment and open its banks; the same request again returns the same experiment.

        Raises:
            InvalidRequest: If a number is out of range or a cohort is too small for a private edition.
            NotFound: If the edition does not exist.
            NotFrozen: If the edition is a draft.
            EditionRetired: If its truth is in the open.
            BudgetSpent: If a private edition has had all the experiments that it may have.
            DigestConflict: If the id was used for another plan.
        """
        _check_plan(plan)
        edition = self._editions.get_frozen(plan.edition_id)
        _check_cohorts(edition)
        with self._registry.transaction():
            if self._registry.row("SELECT 1 FROM experiments WHERE experiment_id = ?", (plan.experiment_id,)) is None:
                self._editions.get(plan.edition_id).require_in_use()
            self._check_budget(edition, plan)
            row: Row = {
                "experiment_id": plan.experiment_id,
                "edition_id": plan.edition_id,
                "model_label": plan.model_label,
                "draw_count": plan.draw_count,
                "bank_seed": plan.bank_seed,
                "resample_count": plan.resample_count,
                "bootstrap_seed": plan.bootstrap_seed,
                "request_digest": plan.digest(),
                "create_time": datetime.now(UTC).isoformat(),
            }
            if self._registry.add("experiments", [row]):
                rings: list[Row] = [{"experiment_id": plan.experiment_id, "ring": ring.value} for ring in plan.rings]
                self._registry.add("experiment_rings", rings)
                self._ledger.append(
                    "experiment-registered",
                    {"experiment": plan.experiment_id, "edition": plan.edition_id, "plan": plan.digest()},
                    project=BOOTSTRAP_PROJECT,
                )
        experiment = self.get(plan.experiment_id)
        if experiment.plan != plan:
            raise DigestConflict(
                f"experiment {plan.experiment_id!r} exists with another plan; choose another id",
                subject=plan.experiment_id,
            )
        return experiment

    def _check_budget(self, edition: Edition, plan: ExperimentPlan) -> None:
        if edition.kind == "practice":
            return
        most = next(count for families, count in EXPERIMENTS_MAX.items() if _smallest_cohort(edition) >= families)
        others = self._registry.rows(
            "SELECT experiment_id FROM experiments WHERE edition_id = ? AND experiment_id != ?",
            (edition.edition_id, plan.experiment_id),
        )
        spent = sum(len(self._rings(row["experiment_id"])) for row in others)
        if spent + len(plan.rings) > most:
            what = f"has had its {most} experiments; "
            if spent < most:
                what = (
                    f"has {most - spent} of its {most} experiments left, of which each ring of a plan takes one, and "
                    f"this plan has {len(plan.rings)}; ask fewer rings, or "
                )
            raise BudgetSpent(
                f"private edition {edition.edition_id!r} {what}freeze a fresh edition",
                subject=f"editions/{edition.edition_id}",
            )

    def _rings(self, experiment_id: str) -> tuple[Ring, ...]:
        rows = self._registry.rows("SELECT ring FROM experiment_rings WHERE experiment_id = ?", (experiment_id,))
        return tuple(sorted(Ring(row["ring"]) for row in rows)) or (Ring.R0,)

    def get(self, experiment_id: str) -> Experiment:
        """Return an experiment.

        Raises:
            NotFound: If there is none.
        """
        row = self._registry.row("SELECT * FROM experiments WHERE experiment_id = ?", (experiment_id,))
        if row is None:
            raise NotFound(f"experiment {experiment_id!r} does not exist on this server", subject=experiment_id)
        names = (
            "experiment_id",
            "edition_id",
            "model_label",
            "draw_count",
            "bank_seed",
            "resample_count",
            "bootstrap_seed",
        )
        plan = ExperimentPlan(**{name: row[name] for name in names}, rings=self._rings(experiment_id))
        edition = self._editions.get(plan.edition_id)
        domains = sorted({Domain(shape.domain) for shape in edition.shapes})
        banks = tuple(
            self._bank(plan, edition, domain, state, ring)
            for ring in plan.rings
            for domain in domains
            for state in ModelState
        )
        return Experiment(plan, banks, datetime.fromisoformat(row["create_time"]))

    def get_bank(self, experiment_id: str, bank_id: str) -> tuple[Experiment, Bank]:
        """Return a bank and its experiment.

        Raises:
            NotFound: If there is none.
        """
        experiment = self.get(experiment_id)
        for bank in experiment.banks:
            if bank.bank_id == bank_id:
                return experiment, bank
        known = ", ".join(bank.bank_id for bank in experiment.banks)
        raise NotFound(f"experiment {experiment_id!r} has no bank {bank_id!r}; it has {known}", subject=bank_id)

    def submit(self, experiment_id: str, bank_id: str, messages: Iterable[Sequence[Answer]]) -> Bank:
        """Add answers to an open bank, message by message; what was stored before a failure stays.

        Raises:
            InvalidRequest: If a case is not the bank's, or an answer is too long.
            DigestConflict: If a case has another answer already.
            AlreadyDone: If the bank is sealed.
        """
        experiment, bank = self.get_bank(experiment_id, bank_id)
        families = self._bank_families(experiment.plan.edition_id, bank.domain)
        for answers in messages:
            _check_answers(answers, families=families, draw_count=experiment.plan.draw_count)
            self._store(bank, answers)
        return self.get_bank(experiment_id, bank_id)[1]

    def seal(self, experiment_id: str, bank_id: str) -> Receipt:
        """Close a complete bank; sealing again returns the same receipt.

        Raises:
            NotSealed: If answers are missing.
        """
        with self._registry.transaction():
            _, bank = self.get_bank(experiment_id, bank_id)
            name = f"experiments/{experiment_id}/banks/{bank_id}"
            if bank.answered_count < bank.case_count:
                raise NotSealed(
                    f"bank {name!r} has {bank.answered_count} of {bank.case_count} answers; submit the rest, then seal",
                    subject=name,
                )
            if not bank.is_sealed:
                self._editions.get(self.get(experiment_id).plan.edition_id).require_in_use()
                digest = answers_digest(self.answers(experiment_id, bank_id))
                index = self._ledger.append(
                    "bank-sealed",
                    {"experiment": experiment_id, "bank": bank_id, "answers": digest.hex()},
                    project=BOOTSTRAP_PROJECT,
                )
                row = {
                    "experiment_id": experiment_id,
                    "bank_id": bank_id,
                    "answers_digest": digest,
                    "case_count": bank.case_count,
                    "ledger_index": index,
                    "seal_time": datetime.now(UTC).isoformat(),
                }
                self._registry.add("seals", [row])
            seal = self._registry.rows(
                "SELECT * FROM seals WHERE experiment_id = ? AND bank_id = ?", (experiment_id, bank_id)
            )[0]
            _, sealed = self.get_bank(experiment_id, bank_id)
        return Receipt(sealed, seal["answers_digest"], seal["ledger_index"])

    def answers(self, experiment_id: str, bank_id: str) -> list[Answer]:
        """Return all answers of a bank in the order of (family id, draw)."""
        query = (
            "SELECT family_id, draw, text FROM answers WHERE experiment_id = ? AND bank_id = ? ORDER BY family_id, draw"
        )
        return [
            Answer(row["family_id"], row["draw"], row["text"])
            for row in self._registry.rows(query, (experiment_id, bank_id))
        ]

    def _store(self, bank: Bank, answers: Sequence[Answer]) -> None:
        rows: list[Row] = [
            {
                "experiment_id": bank.experiment_id,
                "bank_id": bank.bank_id,
                "family_id": answer.family_id,
                "draw": answer.draw,
                "text": answer.text,
            }
            for answer in answers
        ]
        with self._registry.transaction():
            experiment, now = self.get_bank(bank.experiment_id, bank.bank_id)
            sealed = now.is_sealed
            if not sealed:
                self._editions.get(experiment.plan.edition_id).require_in_use()
            if not sealed and self._registry.add("answers", rows) == len(rows):
                return
            for row in rows:
                stored = self._registry.row(
                    "SELECT text FROM answers WHERE experiment_id = ? AND bank_id = ? AND family_id = ? AND draw = ?",
                    (row["experiment_id"], row["bank_id"], row["family_id"], row["draw"]),
                )
                case = f"case ({row['family_id']}, draw {row['draw']}) of bank {bank.bank_id!r}"
                if stored is None or (sealed and stored["text"] != row["text"]):
                    raise AlreadyDone(f"{case}: the bank is sealed and takes no more answers", subject=bank.bank_id)
                if stored["text"] != row["text"]:
                    raise DigestConflict(
                        f"{case} has another answer already; one case has one terminal answer", subject=bank.bank_id
                    )

    def _bank(self, plan: ExperimentPlan, edition: Edition, domain: Domain, state: ModelState, ring: Ring) -> Bank:
        bank_id = bank_id_of(domain, state, ring)
        shape_count = sum(shape.domain == domain.value for shape in edition.shapes)
        answered = self._registry.row(
            "SELECT count(*) AS n FROM answers WHERE experiment_id = ? AND bank_id = ?", (plan.experiment_id, bank_id)
        )
        seal = self._registry.row(
            "SELECT 1 FROM seals WHERE experiment_id = ? AND bank_id = ?", (plan.experiment_id, bank_id)
        )
        return Bank(
            experiment_id=plan.experiment_id,
            bank_id=bank_id,
            domain=domain,
            state=state,
            case_count=shape_count * 2 * edition.families_per_cell * plan.draw_count,
            answered_count=answered["n"] if answered else 0,
            is_sealed=seal is not None,
            ring=ring,
        )

    def _bank_families(self, edition_id: str, domain: Domain) -> frozenset[str]:
        return frozenset(family.family_id for family in self._editions.families(edition_id) if family.domain is domain)


def bank_id_of(domain: Domain, state: ModelState, ring: Ring) -> str:
    """Return the id that a bank has in its experiment: `sql-base` in R0, `sql-base-r1` in another ring."""
    suffix = "" if ring is Ring.R0 else f"-{ring.value.lower()}"
    return f"{domain.value}-{state.value}{suffix}"


def answers_digest(answers: Iterable[Answer]) -> bytes:
    """Digest answers in the order of (family id, draw), 32 bytes."""
    digest = hashlib.sha256()
    for answer in answers:
        digest.update(canonical_json([answer.family_id, answer.draw, answer.text]) + b"\n")
    return digest.digest()


def _check_plan(plan: ExperimentPlan) -> None:
    check_id(plan.experiment_id, field="experiment_id")
    ranges = {
        "draw_count": (plan.draw_count, 1, 1024),
        "resample_count": (plan.resample_count, 100, 1_000_000),
        # The bootstrap's generator takes no negative seed, and would say so only after the last bank was sealed.
        "bootstrap_seed": (plan.bootstrap_seed, 0, 2**63 - 1),
    }
    for field, (value, least, most) in ranges.items():
        if not least <= value <= most:
            raise InvalidRequest(f"{field} {value} is not in {least} to {most}", subject=field)
    if Ring.R0 not in plan.rings or list(plan.rings) != sorted(set(plan.rings)):
        raise InvalidRequest(
            f"rings are {', '.join(plan.rings) or 'none'}; name each once and in order, R0 first: the others are "
            "compared with it",
            subject="rings",
        )
    if len(plan.model_label.encode()) > 512:
        raise InvalidRequest("model_label is longer than 512 bytes; name the model in fewer", subject="model_label")


def _check_cohorts(edition: Edition) -> None:
    if edition.kind == "practice":
        return
    count = _smallest_cohort(edition)
    if count < COHORT_FAMILIES_MIN:
        raise InvalidRequest(
            f"private edition {edition.edition_id!r} has {count} families a condition in one domain; numbers are "
            f"released over at least {COHORT_FAMILIES_MIN}, so add shapes or families",
            subject="edition",
        )


def _smallest_cohort(edition: Edition) -> int:
    """Return how many families of one domain and condition an edition has at least."""
    domains = [shape.domain for shape in edition.shapes]
    return min(domains.count(domain) for domain in domains) * edition.families_per_cell


def _check_answers(answers: Sequence[Answer], *, families: frozenset[str], draw_count: int) -> None:
    if len(answers) > CASES_PER_MESSAGE_MAX:
        raise InvalidRequest(
            f"a message carries {len(answers)} answers; at most {CASES_PER_MESSAGE_MAX}", subject="answers"
        )
    for answer in answers:
        if answer.family_id not in families:
            raise InvalidRequest(f"family {answer.family_id[:80]!r} is not in this bank", subject="answers.family_id")
        if not 0 <= answer.draw < draw_count:
            raise InvalidRequest(
                f"draw {answer.draw} of family {answer.family_id!r} is not in 0 to {draw_count - 1}",
                subject="answers.draw",
            )
        if len(answer.text.encode()) > ANSWER_BYTES_MAX:
            raise InvalidRequest(
                f"the answer to ({answer.family_id}, draw {answer.draw}) is longer than {ANSWER_BYTES_MAX} bytes",
                subject="answers.text",
            )

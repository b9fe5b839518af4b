"""What leaves when an experiment is disclosed: once, charged once, over the cohorts that were registered."""

from __future__ import annotations

import dataclasses
import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from leakscale.client import Client
from leakscale.models import BankPhase, Cohort, Condition, Domain, ModelState, Ring
from leakscale.results import CellTotal
from leakscale.statements import Predicate, predicate_of, statement
from leakscale.totals import round_count
from leakscale.verify.disclosed_values import require_consistent
from leakscale_server.core.disclosure.assurance import assurance_level
from leakscale_server.core.disclosure.atoms import Cohort as PlanCohort
from leakscale_server.core.disclosure.grids import BOUNDS, OFFSETS
from leakscale_server.core.edition_keys import first_key
from leakscale_server.errors import NotFound, Unavailable
from leakscale_server.registry.editions import EditionRegistry
from leakscale_server.registry.experiments import ExperimentRegistry, Statement
from leakscale_server.registry.grants import GrantRegistry
from leakscale_server.scorer.analysis import analyze
from leakscale_server.scorer.contract import (
    ExperimentHead,
    FamilyCell,
    Scoring,
    SealedBank,
    SealedExperiment,
    SignedPayload,
)
from leakscale_server.stages.disclosing import Disclosing
from leakscale_server.store.ledger import Ledger
from leakscale_server.store.registry_tables import open_registry
from leakscale_server.store.signing import Signer
from leakscale_server.store.vault import Association

from .helpers import World, a_plan, answers_to
from .test_budget import PARTY, PLAN, Clock, frozen

DRAWS = 4


def a_sealed_experiment(*, kind: str, rings: tuple[Ring, ...] = (Ring.R0,), seed: int = 1) -> SealedExperiment:
    """Two domains, four shapes each, eight families a shape and condition; adapted C2 chooses right more often."""
    draw = random.Random(seed)
    families = tuple(
        FamilyCell(f"{domain}-{shape}-{condition}-{ordinal}", domain, condition, f"{domain}-{shape}")
        for domain in Domain
        for shape in range(4)
        for condition in Condition
        for ordinal in range(8)
    )
    head = ExperimentHead(
        project="p",
        experiment_id="e",
        model_label="m",
        edition_key=first_key("d"),
        edition_kind=kind,
        commitment_root=b"r",
        certificates_digest=b"c",
        plan_digest="ab" * 32,
        draw_count=DRAWS,
        bank_seed=1,
        resample_count=200,
        bootstrap_seed=2,
        rings=rings,
        cohorts=(PlanCohort("half", ("python-0", "python-1", "sql-2")), PlanCohort("one", ("sql-3",))),
        assurance_level="L2",
        is_open=kind == "practice",
    )
    banks = tuple(
        SealedBank(f"{domain}-{state}-{ring}", domain, state, ring, b"d" * 32, _choices(draw, families, domain, state))
        for ring in rings
        for domain in Domain
        for state in ModelState
    )
    return SealedExperiment(head, families, banks)


def _choices(draw: random.Random, families: tuple[FamilyCell, ...], domain: Domain, state: ModelState) -> bytes:
    own = [family for family in families if family.domain is domain]
    chances = [0.8 if state is ModelState.ADAPTED and each.condition is Condition.C2 else 0.25 for each in own]
    return bytes(0 if draw.random() < chance else 255 for chance in chances for _ in range(DRAWS))


def numbers_of(experiment: SealedExperiment) -> dict[str, Any]:
    return predicate_of(payload_of(experiment), Predicate.DISCLOSURE)


def payload_of(experiment: SealedExperiment) -> bytes:
    associations = {
        each.family_id: Association("K", each.condition, 0, b"n", 8, (8, 0, 0, 0), 0) for each in experiment.families
    }
    return analyze(experiment, associations=associations)


def every_estimate(numbers: dict[str, Any]) -> list[dict[str, Any]]:
    parts = [numbers, *numbers["cohorts"]]
    effects = [effect for part in parts for effect in part["effects"]]
    effects += [effect for part in parts for ring in part.get("transfers", ()) for effect in ring["effects"]]
    estimates = [each for effect in effects for name, each in effect.items() if name != "domain"]
    crossed = [part["crossed"] for part in parts if "crossed" in part]
    return estimates + [each[name] for each in crossed for name in ("mean", "difference")]


def every_total(numbers: dict[str, Any]) -> list[int]:
    parts = [numbers, *numbers["cohorts"]]
    parts += [ring for part in parts for ring in part.get("transfers", ())]
    return [total["correct_count"] for part in parts for total in part["totals"]]


@pytest.mark.parametrize("kind", ["private", "practice"])
def test_every_value_that_is_told_follows_from_the_totals(kind: str) -> None:
    """So an estimate cannot say what a rounded total does not; on a practice edition it is the estimator's own."""
    experiment = a_sealed_experiment(kind=kind, rings=(Ring.R0, Ring.R1))
    payload = payload_of(experiment)

    require_consistent(payload)

    numbers = predicate_of(payload, Predicate.DISCLOSURE)
    numbers["effects"][1]["c0_drift"]["value"] += 1e-6
    with pytest.raises(ValueError, match="python: change of C0 is"):
        require_consistent(statement(Predicate.DISCLOSURE, subject="e", digest=b"d", predicate=numbers))


def test_draws_below_half_a_family_show_in_no_total_and_no_estimate() -> None:
    """Two answers more or less in a bank are what draws used as weights would code with."""
    experiment = a_sealed_experiment(kind="private", rings=(Ring.R0, Ring.R1))
    moved = [_moved_within_rounding(experiment, bank) for bank in experiment.banks]
    before = numbers_of(experiment)
    after = numbers_of(SealedExperiment(experiment.head, experiment.families, tuple(moved)))

    assert any(one.choices != two.choices for one, two in zip(experiment.banks, moved, strict=True))
    assert every_total(after) == every_total(before)
    assert [each["value"] for each in every_estimate(after)] == [each["value"] for each in every_estimate(before)]
    assert _shares(after) == _shares(before)


def _moved_within_rounding(experiment: SealedExperiment, bank: SealedBank) -> SealedBank:
    """Turn one draw of a family around, if no total that has the family is rounded to another multiple for it."""
    totals = every_total(numbers_of(experiment))
    for place in range(len(bank.choices)):
        turned = bytes([255 if bank.choices[place] == 0 else 0])
        choices = bank.choices[:place] + turned + bank.choices[place + 1 :]
        moved = dataclasses.replace(bank, choices=choices)
        banks = tuple(moved if each is bank else each for each in experiment.banks)
        if every_total(numbers_of(SealedExperiment(experiment.head, experiment.families, banks))) == totals:
            return moved
    return bank


def _shares(numbers: dict[str, Any]) -> list[tuple[float | None, str | None, str | None]]:
    parts = [numbers, *numbers["cohorts"]]
    shares = [share for part in parts for ring in part["transfers"] for share in ring["shares"]]
    return [(share["share"], share["withheld"], share["reason"]) for share in shares]


def test_a_cohort_has_the_totals_of_its_own_families() -> None:
    """Counted again by hand, in every domain, condition and state; a cohort of one domain has no other."""
    experiment = a_sealed_experiment(kind="practice")
    half, one = numbers_of(experiment)["cohorts"]
    shapes = {family.family_id: family.shape_id for family in experiment.families}

    for total in half["totals"]:
        bank = next(each for each in experiment.banks if (each.domain, each.state) == (total["domain"], total["state"]))
        own = [each for each in experiment.families if each.domain is bank.domain]
        correct = sum(
            bank.choices[place * DRAWS : (place + 1) * DRAWS].count(0)
            for place, family in enumerate(own)
            if shapes[family.family_id] in half["shape_ids"] and family.condition == total["condition"]
        )
        assert total["correct_count"] == total["valid_count"] == correct
    assert {(total["domain"], total["family_count"]) for total in half["totals"]} == {("python", 16), ("sql", 8)}
    assert {total["domain"] for total in one["totals"]} == {"sql"}
    assert [effect["domain"] for effect in one["effects"]] == [None, "sql"]


def test_two_domains_are_crossed_and_one_is_not() -> None:
    """Their mean weighs them the same, whatever they have of families; the difference is of the first."""
    numbers = numbers_of(a_sealed_experiment(kind="practice"))
    half, one = numbers["cohorts"]

    for part in (numbers, half):
        _, first, second = (effect["effect"]["value"] for effect in part["effects"])
        assert part["crossed"]["domains"] == [effect["domain"] for effect in part["effects"][1:]]
        assert part["crossed"]["mean"]["value"] == pytest.approx((first + second) / 2)
        assert part["crossed"]["difference"]["value"] == pytest.approx(first - second)
        assert part["crossed"]["difference"]["low"] < first - second < part["crossed"]["difference"]["high"]
    assert "crossed" not in one


@pytest.mark.parametrize("rings", [(Ring.R0,), (Ring.R0, Ring.R1)], ids=str)
def test_a_private_edition_tells_whole_families_and_intervals_on_a_grid(rings: tuple[Ring, ...]) -> None:
    """Ends are what the budget counted, hold the exact interval, and the estimate follows from totals that are told."""
    experiment = a_sealed_experiment(kind="private", rings=rings)
    private = numbers_of(experiment)
    practice = numbers_of(a_sealed_experiment(kind="practice", rings=rings))

    assert (private["intervals"], practice["intervals"]) == ("rounded_outwards", "exact")
    assert (private["count_step"], practice["count_step"]) == (DRAWS, 1)
    totals = list(zip(every_total(private), every_total(practice), strict=True))
    assert [told for told, _ in totals] == [round_count(exact, step=DRAWS) for _, exact in totals]
    assert any(told != exact for told, exact in totals)
    pairs = list(zip(every_estimate(private), every_estimate(practice), strict=True))
    assert len(pairs) == 8 * 4 * len(rings) + 2 * 2
    for rounded, exact in pairs:
        assert rounded["low"] <= min(exact["low"], rounded["value"])
        assert rounded["high"] >= max(exact["high"], rounded["value"])
        for end in (rounded["low"], rounded["high"]):
            assert min(abs(abs(end - rounded["value"]) - offset) for offset in OFFSETS) < 1e-12
    assert any(rounded["low"] < exact["low"] for rounded, exact in pairs)
    bounds = [
        share["bounds"][name]
        for part in (private, *private["cohorts"])
        for ring in part.get("transfers", ())
        for share in ring["shares"]
        if share["bounds"]
        for name in ("low", "high")
    ]
    assert all(bound is None or bound in BOUNDS for bound in bounds)
    assert bool(bounds) is (len(rings) > 1)


def test_ends_of_families_that_are_all_alike_say_no_more_than_that() -> None:
    """Which kind of flat an interval is would be one more number over the families."""
    experiment = a_sealed_experiment(kind="private")
    silent = tuple(
        SealedBank(each.bank_id, each.domain, each.state, each.ring, each.answers_digest, bytes(len(each.choices)))
        for each in experiment.banks
    )

    found = every_estimate(numbers_of(SealedExperiment(experiment.head, experiment.families, silent)))

    assert {(each["value"], each["low"], each["high"], each["state"]) for each in found} == {(0, 0, 0, "constant")}


@pytest.mark.parametrize(
    ("facts", "level"),
    [
        ({"is_practice": True}, "L0"),
        ({"is_practice": True, "is_self_administered": True}, "L0"),
        ({"is_self_administered": True}, "L1"),
        ({}, "L2"),
        ({"redeemers": {"ada"}}, "L0"),
        ({"redeemers": {"bob", "ada"}}, "L0"),
        ({"redeemers": set()}, "L0"),
    ],
)
def test_the_assurance_level_says_who_was_kept_apart(facts: dict[str, Any], level: str) -> None:
    """L2 is for an auditor who answered and a trainer who did not; whoever cannot show that gets less."""
    default: dict[str, Any] = {
        "is_practice": False, "is_self_administered": False, "submitters": {"ada"}, "redeemers": {"bob"},
    }  # fmt: skip

    assert assurance_level(**(default | facts)) == level


def test_banks_go_from_draft_to_released_and_their_cohorts_arrive(client: Client, world: World) -> None:
    """One life over the wire, the scorer's process included."""
    cohorts = (Cohort("python-only", ("python-prefix",)), Cohort("sql-only", ("sql-threshold",)))
    experiment = client.experiments.create(a_plan(world.edition, "phases", cohorts=cohorts))
    phases = [_phases(client)]
    for bank in experiment.banks:
        client.banks.submit(bank.name, answers_to(bank, world.families))
    phases.append(_phases(client))
    for bank in experiment.banks:
        client.banks.seal(bank.name)
    phases.append(_phases(client))
    disclosure = client.experiments.disclose(experiment.name)
    phases.append(_phases(client))

    assert phases == [{BankPhase.DRAFT}, {BankPhase.OPEN}, {BankPhase.SEALED}, {BankPhase.RELEASED}]
    assert [(cohort.cohort_id, cohort.shape_ids) for cohort in disclosure.cohorts] == [
        (cohort.cohort_id, cohort.shape_ids) for cohort in cohorts
    ]
    assert _by_domain(disclosure.totals) == _by_domain(
        tuple(total for cohort in disclosure.cohorts for total in cohort.totals)
    )
    assert client.experiments.get(experiment.name).plan.cohorts == cohorts
    assert not disclosure.is_rounded


def _phases(client: Client) -> set[BankPhase]:
    return {bank.phase for bank in client.experiments.get("experiments/phases").banks}


def _by_domain(totals: tuple[CellTotal, ...]) -> list[CellTotal]:
    return sorted(totals, key=lambda total: (total.domain, total.condition, total.state))


class ScriptedScorer:
    """A scorer that answers what it is told, in turn."""

    def __init__(self, *answers: bytes | Exception) -> None:
        self._answers = list(answers)

    def disclose(self, _: SealedExperiment) -> SignedPayload:
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return SignedPayload(answer, b"s")


@dataclass(frozen=True, slots=True)
class Parts:
    """A private edition with one experiment, sealed: its banks have no cases, so there was nothing to answer."""

    experiments: ExperimentRegistry
    disclosing: Disclosing
    ledger: Ledger
    clock: Clock

    @property
    def phases(self) -> set[BankPhase]:
        return {bank.phase for bank in self.experiments.get("north", "first").banks}


def parts(folder: Path, monkeypatch: pytest.MonkeyPatch, *answers: bytes | Exception) -> Parts:
    monkeypatch.setattr(EditionRegistry, "families", lambda *_, **__: [])
    clock = Clock()
    experiments = frozen(folder, kind="private", shape_count=32, now=clock)
    registry, signer = open_registry(folder), Signer.load_or_create(folder / "key")
    ledger = Ledger(registry, signer)
    editions = EditionRegistry(registry, ledger, signer, editions_dir=folder / "editions")
    scorer = cast(Scoring, ScriptedScorer(*answers))
    disclosing = Disclosing(editions, experiments, GrantRegistry(registry, ledger), scorer, public_key=b"k" * 32)
    for bank in experiments.create(PLAN, party=PARTY).banks:
        experiments.answers.seal("north", "first", bank.bank_id, request_id="seal")
    return Parts(experiments, disclosing, ledger, clock)


def test_numbers_are_charged_once_and_leave_once_whatever_stops_in_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scorer that dies after the charge is asked again, even when the lifetime is over by then."""
    made = parts(tmp_path, monkeypatch, Unavailable("the scorer is down"), b"one", b"two")
    with pytest.raises(Unavailable):
        made.disclosing.disclose("north", "first")
    before = made.experiments.budget("large", party=PARTY)
    made.clock.now = made.experiments.get("north", "first").expire_time
    assert made.phases == {BankPhase.SEALED}

    released = made.disclosing.disclose("north", "first")

    assert released.payload == b"one"
    assert made.disclosing.disclose("north", "first") == released
    assert made.experiments.budget("large", party=PARTY) == before
    assert made.phases == {BankPhase.RELEASED}


def test_what_was_scored_and_not_released_leaves_as_it_was_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between the two, the first numbers stay; the ledger tells of them once."""
    made = parts(tmp_path, monkeypatch, b"two")
    experiment = made.experiments.releases.charge("north", "first")
    made.experiments.releases.score(experiment, Statement(b"one", b"s", b"k" * 32))
    assert made.phases == {BankPhase.SCORED}
    assert made.experiments.releases.released("north", "first") is None

    released = made.disclosing.disclose("north", "first")

    assert released.payload == b"one"
    entries = made.ledger.entries(project="north", start=0, limit=99)
    kinds = [json.loads(entry.content)["kind"] for entry in entries if entry.content]
    assert kinds.count("experiment-disclosed") == 1


def test_another_project_has_no_such_experiment_to_disclose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its id and a free one are the same."""
    made = parts(tmp_path, monkeypatch)
    messages = []
    for project, experiment_id in (("south", "first"), ("north", "other")):
        with pytest.raises(NotFound) as caught:
            made.disclosing.disclose(project, experiment_id)
        messages.append(str(caught.value).replace("other", "first"))

    assert messages[0] == messages[1]

"""Tables that tell families apart: computed where the banks are sealed, for the author of a practice edition alone."""

from __future__ import annotations

import dataclasses
import json
import random
from typing import Any

import numpy as np
import pytest

from leakscale.analysis import AnalysisPlan, Identities, LabelColumn, ResultTable, analyze_results
from leakscale.analysis.disclosed import analyze_disclosure
from leakscale.errors import IntegrityError
from leakscale.models import Condition, Domain, ModelState, Ring
from leakscale.results import disclosure_from_payload
from leakscale.statements import Predicate, predicate_of, statement
from leakscale_server.scorer.analysis import analyze
from leakscale_server.scorer.contract import SealedBank, SealedExperiment
from leakscale_server.store.vault import Association

from .helpers import World
from .test_disclosing import DRAWS, a_sealed_experiment

TABLES = ["12", "family-accuracies", "13", "15", "14", "16", "without-shapes"]


def an_association(condition: Condition, *, truth: int) -> Association:
    """Let the candidate at one place alone pass."""
    first, second, third, fourth = (8 if place == truth else 0 for place in range(4))
    return Association("K", condition, truth, b"n", 8, (first, second, third, fourth), 0)


def an_experiment(kind: str = "practice") -> tuple[SealedExperiment, dict[str, Association]]:
    """Build a sealed experiment whose right answers stand at all four places."""
    empty = a_sealed_experiment(kind=kind)
    draw = random.Random(5)
    associations = {
        family.family_id: an_association(family.condition, truth=place % 4)
        for place, family in enumerate(empty.families)
    }

    def choices(bank: SealedBank) -> bytes:
        return bytes(
            associations[family.family_id].truth if draw.random() < chance(family.condition, bank.state) else 255
            for family in empty.families
            if family.domain is bank.domain
            for _ in range(DRAWS)
        )

    def chance(condition: Condition, state: ModelState) -> float:
        return 0.8 if (condition, state) == (Condition.C2, ModelState.ADAPTED) else 0.3

    banks = tuple(dataclasses.replace(bank, choices=choices(bank)) for bank in empty.banks)
    return SealedExperiment(empty.head, empty.families, banks), associations


def results_of(experiment: SealedExperiment, associations: dict[str, Association]) -> ResultTable:
    """Write the same answers down as results by family, as an author would join them."""
    rows: list[tuple[Any, ...]] = []
    for bank in experiment.banks:
        own = [family for family in experiment.families if family.domain is bank.domain]
        for place, family in enumerate(own):
            for number, choice in enumerate(bank.choices[place * DRAWS : (place + 1) * DRAWS]):
                truth = associations[family.family_id].truth
                rows.append((family, bank.state, number, truth, int(choice == truth), int(choice < 4)))
    families, states, draws, truths, correct, valid = zip(*rows, strict=True)

    def texts(name: str, values: list[str]) -> LabelColumn:
        return LabelColumn.of_texts(name, np.array(values))

    return ResultTable(
        model=texts("model", ["m"] * len(rows)),
        domain=texts("domain", [each.domain.value for each in families]),
        shape=texts("shape", [each.shape_id for each in families]),
        condition=texts("condition", [each.condition.value for each in families]),
        family=texts("family", [each.family_id for each in families]),
        ring=texts("ring", [Ring.R0.value] * len(rows)),
        state=texts("state", [each.value for each in states]),
        truth_rank=None,
        display_position=np.array(truths),
        correct=np.array(correct),
        valid=np.array(valid),
        draw_count=np.ones(len(rows), np.int64),
        draw=np.array(draws),
    )


def signed(payload: bytes) -> tuple[Any, dict[str, Any]]:
    """Return a disclosure and all that was signed of it."""
    disclosure = disclosure_from_payload(payload, signature=b"s", public_key=b"k")
    return disclosure, disclosure.numbers


def test_the_scorer_computes_what_results_by_family_give() -> None:
    """Two ways to one table: sealed banks at the server, and the author's own join."""
    experiment, associations = an_experiment()
    plan = AnalysisPlan(seed=experiment.head.bootstrap_seed, resample_count=experiment.head.resample_count)
    by_family = analyze_results(results_of(experiment, associations), plan)

    by_server = analyze_disclosure(*signed(analyze(experiment, associations=associations)), Identities())

    for name in TABLES:
        assert by_server.table(name) == by_family.table(name), name
        assert by_server.table(name).rows
    assert {row.value for row in by_server.table("13").rows} == {0, 1, 2, 3}
    assert [row.domain for row in by_server.table("16").rows] == [*Domain]


def test_of_a_private_edition_no_such_table_is_computed() -> None:
    """What does not exist cannot leave; the reader is told why there is none."""
    experiment, associations = an_experiment("private")

    disclosure, numbers = signed(analyze(experiment, associations=associations))

    assert "family_tables" not in numbers
    assert "shape_id" not in json.dumps({name: numbers[name] for name in numbers if name != "cohorts"})
    analysis = analyze_disclosure(disclosure, numbers, Identities())
    for name in TABLES:
        assert analysis.table(name).rows == ()
        assert "the edition is private and not retired" in (analysis.table(name).withheld or "")


def test_an_author_gets_the_tables_of_a_real_server(world: World) -> None:
    """Twelve rows of quartiles are no secret to who chose the private seed."""
    analysis = analyze_disclosure(world.disclosure, world.disclosure.numbers, Identities())

    totals = {(row.domain, row.condition, row.state): row.accuracy for row in analysis.table("11").rows}
    for row in analysis.table("12").rows:
        assert row.mean == pytest.approx(totals[row.domain, row.condition, row.state])
    shapes = sum((analysis.table(number).rows for number in ("14", "15")), ())
    assert {row.shape for row in shapes} == {family.shape_id for family in world.families}


def test_a_table_that_the_design_does_not_carry_holds_nothing_up() -> None:
    """Numbers that are due leave all the same."""
    experiment, associations = an_experiment()
    one_shape = tuple(
        family
        for family in experiment.families
        if not (family.shape_id == "sql-3" and family.condition is Condition.C0)
    )
    banks = tuple(_without(bank, experiment, one_shape) for bank in experiment.banks)
    head = dataclasses.replace(experiment.head, cohorts=())

    payload = analyze(SealedExperiment(head, one_shape, banks), associations=associations)

    analysis = analyze_disclosure(*signed(payload), Identities())
    assert analysis.table("14").withheld
    assert analysis.table("15").rows
    assert analysis.table("11").rows


def _without(bank: SealedBank, experiment: SealedExperiment, kept: tuple[Any, ...]) -> SealedBank:
    own = [family for family in experiment.families if family.domain is bank.domain]
    pieces = [bank.choices[place * DRAWS : (place + 1) * DRAWS] for place in range(len(own))]
    return dataclasses.replace(
        bank, choices=b"".join(piece for family, piece in zip(own, pieces, strict=True) if family in kept)
    )


def test_a_table_that_cannot_be_read_is_named() -> None:
    """A signature covers bytes, and not that this version knows what they mean."""
    experiment, associations = an_experiment()
    facts = predicate_of(analyze(experiment, associations=associations), Predicate.DISCLOSURE)
    del facts["family_tables"][0]["rows"][0]["median"]
    payload = statement(Predicate.DISCLOSURE, subject="experiments/e", digest=b"d" * 32, predicate=facts)

    with pytest.raises(
        IntegrityError, match="table 'family-profiles' of the disclosure cannot be read: it lacks 'median'"
    ):
        analyze_disclosure(*signed(payload), Identities())

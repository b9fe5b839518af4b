"""The effect of a leak is what exposed parents gained beyond the untouched ones, form by form."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from tests.audit.controls.builders import a_control

from leakscale.audit.answering import FormAnswer
from leakscale.audit.controls.borrowing import BorrowedRow, borrowed_table
from leakscale.audit.controls.choices import first_option_pull
from leakscale.audit.controls.effects import ControlScores, RunEffects, run_effects
from leakscale.audit.controls.plan import ControlPlan
from leakscale.audit.controls.registering import ControlRun, runs_of
from leakscale.audit.controls.tables import control_tables, null_verdict, seed_verdict
from leakscale.audit.forms.models import Criterion, Form, FormBank, Option, Parent
from leakscale.audit.scores import ScoreKind, ScoreTable
from leakscale.errors import PreconditionError
from leakscale.inference.forms import OptionScore
from leakscale.stats import Withheld

IDS = tuple(f"p{number}" for number in range(20))
EXPOSED = IDS[:10]


def a_table(columns: Sequence[Sequence[float]], *, state: str = "base", without_deep: Sequence[int] = ()) -> ScoreTable:
    """Return scores of 20 parents: for exposed and untouched ones, how many of 10 are right by form.

    Columns are public, fresh-1, fresh-2, deep-1; each is (right of the exposed, right of the untouched). Parents of the
    rows `without_deep` lack the last one.
    """
    scores = [[float(number % 10 < right[number >= 10]) for right in columns] for number in range(len(IDS))]
    for row in without_deep:
        scores[row][3] = np.nan
    return ScoreTable(
        model="tiny",
        kind=ScoreKind.CORRECT,
        metric="numeric",
        parent_ids=IDS,
        scores=np.array(scores),
        fresh_count=2,
        state=state,
        bank_digest="b",
    )


BEFORE = ((2, 3), (2, 3), (1, 2), (2, 2))
"""A fifth to a third is right before."""
AFTER = ((8, 2), (6, 2), (5, 1), (3, 2))
"""Public +60 against -10 points; fresh +40 against -10; deep +10 against 0."""


def found(
    control: ControlPlan, *, after: Sequence[Sequence[float]] = AFTER, null: Sequence[Sequence[float]] = BEFORE
) -> list[RunEffects]:
    """Return the effects of every run of a control."""
    tables = {run: a_table(null if run.is_null else after, state=run.state) for run in runs_of(control)}
    scores = ControlScores(a_table(BEFORE), tables, None, {})
    return [run_effects(scores, run, EXPOSED, control) for run in tables]


def test_the_effect_is_the_change_of_the_exposed_less_that_of_the_untouched() -> None:
    """Damage that training does to everything is no effect of the leak."""
    leak, _ = found(a_control())
    effects = {name: result.effect.estimate for name, result in leak.effects.items()}

    assert effects == pytest.approx({"public": 0.7, "fresh": 0.5, "deep": 0.1})
    assert leak.gap.gap.estimate == pytest.approx(0.2)
    assert leak.gap.c0_movement.estimate == pytest.approx(0)
    assert leak.share.share == pytest.approx(5 / 7)
    assert leak.manipulation.is_passed


def test_a_paraphrase_is_judged_on_the_form_that_was_leaked() -> None:
    """The public form was never shown, and the leaked fresh form is no unseen one."""
    control = a_control(exposure={"kind": "paraphrase", "fresh": 1})
    leak, _ = found(control, after=((4, 3), (9, 3), (3, 2), (2, 2)))
    effects = {name: result.effect.estimate for name, result in leak.effects.items()}

    assert effects == pytest.approx({"public": 0.2, "fresh": 0.2, "leaked": 0.7, "deep": 0.0})
    assert leak.manipulation.public.effect.estimate == pytest.approx(0.7)
    assert leak.share.share == pytest.approx(2 / 7)


def test_a_leak_that_was_not_planted_has_no_share() -> None:
    """The paper's Study 4: a share of a negative effect is a share of nothing."""
    control = a_control()
    leak, null = found(control, after=((1, 3), (2, 3), (1, 2), (2, 2)))
    transfer = control_tables(control, [leak, null])[3].to_text()

    assert not leak.manipulation.is_passed
    assert leak.share.withheld is Withheld.FAILED_MANIPULATION
    assert "withheld: the public effect of -10.0 points is below the floor" in transfer


def test_a_null_run_is_judged_beside_the_planted_effects() -> None:
    """One point more than the threshold, and the procedure makes up effects by itself."""
    control = a_control()
    clean, unclean = found(control), found(control, null=((3, 3), (2, 3), (1, 2), (2, 2)))
    verdicts = null_verdict(control, clean), null_verdict(control, unclean)

    assert verdicts[0] is not None and verdicts[1] is not None
    assert verdicts[0].is_clean
    assert not verdicts[1].is_clean
    assert verdicts[1].planted["public"] == pytest.approx(0.7)


def test_every_seed_is_in_the_spread() -> None:
    """The registered one is told apart, with its place among all."""
    control = a_control(training={"seeds": [5, 6], "null_run": False})
    first, second = runs_of(control)
    tables = {first: a_table(AFTER, state=first.state), second: a_table(BEFORE, state=second.state)}
    scores = ControlScores(a_table(BEFORE), tables, None, {})
    verdict = seed_verdict(control, [run_effects(scores, run, EXPOSED, control) for run in tables])

    assert verdict is not None
    assert verdict.forms["public"].effects == pytest.approx({"5": 0.7, "6": 0.0})
    assert not verdict.is_stable
    assert verdict.forms["public"].registered_rank == 1


def test_the_control_bank_shows_what_training_does_elsewhere() -> None:
    """Its gap moves by what no leak explains."""
    control = a_control(training={"null_run": False})
    (run,) = runs_of(control)
    scores = ControlScores(
        a_table(BEFORE), {run: a_table(AFTER, state=run.state)}, a_table(BEFORE), {run: a_table(AFTER, state=run.state)}
    )
    off_target = run_effects(scores, run, EXPOSED, control).off_target

    assert off_target is not None
    assert off_target.estimate == pytest.approx(0.25 - 0.15)


def test_states_that_were_scored_otherwise_are_not_compared() -> None:
    """Another parser moves a score as a leak does."""
    control = a_control()
    run = runs_of(control)[0]
    other = ScoreTable(
        model="tiny",
        kind=ScoreKind.CORRECT,
        metric="exact",
        parent_ids=IDS,
        scores=a_table(AFTER).scores,
        fresh_count=2,
        state=run.state,
        bank_digest="b",
    )
    with pytest.raises(PreconditionError, match="by another metric than the base state"):
        run_effects(ControlScores(a_table(BEFORE), {run: other}, None, {}), run, EXPOSED, control)


def borrowed(
    *, deep_of_untouched: int, after: Sequence[Sequence[float]] = AFTER, **tables: Mapping[str, Any]
) -> tuple[RunEffects, BorrowedRow]:
    """Return the effects of a leak, and its row, where so many of ten untouched parents have a deep form."""
    control = a_control(training={"null_run": False}, **tables)
    (run,) = runs_of(control)
    rest = range(10 + deep_of_untouched, 20)
    scores = ControlScores(
        a_table(BEFORE, without_deep=rest), {run: a_table(after, state=run.state, without_deep=rest)}, None, {}
    )
    effects = run_effects(scores, run, EXPOSED, control)
    (row,) = borrowed_table(control, [effects]).rows
    return effects, row


def test_a_deep_effect_without_deep_forms_of_untouched_parents_is_borrowed_and_descriptive() -> None:
    """It stopped the whole control before; nothing can check it, and nothing is said of it as an effect."""
    effects, row = borrowed(deep_of_untouched=0)

    assert "deep" not in effects.effects
    assert (row.deep, row.gate, row.gate_parents, row.off_by) == (None, None, 0, None)
    assert row.borrowed.estimate == pytest.approx(0.1 + 0.1)  # deep +10 of the exposed, fresh -10 of the untouched
    assert row.reading == "descriptive: no untouched parent has both, so nothing checks the assumption"


def test_a_gate_of_few_parents_says_that_it_cannot_see() -> None:
    """The paper's, of twenty, fired; this one would as well, whether or not the assumption holds."""
    _, row = borrowed(deep_of_untouched=6)

    assert row.deep is not None
    assert row.gate_parents == 6
    assert row.resolution is not None
    assert row.resolution > row.tolerance == 0.05
    assert row.false_alarm is not None
    assert row.false_alarm > 0.3
    assert re.fullmatch(r"descriptive: the gate cannot see its tolerance; about \d+ parents could", row.reading)


def test_a_gate_that_can_see_is_read_as_it_was_registered() -> None:
    """The same numbers without a registration are descriptive: a tolerance can be chosen after it was met."""
    wide = {"tolerance": 0.7, "standard_deviation": 0.5}
    effects, held = borrowed(deep_of_untouched=6, borrowed=wide)
    _, violated = borrowed(deep_of_untouched=6, borrowed=wide, after=((8, 2), (6, 10), (5, 10), (3, 0)))
    _, unneeded = borrowed(deep_of_untouched=10, borrowed=wide)

    (unregistered,) = borrowed_table(a_control(), [effects]).rows

    assert held.reading == "as registered: the gate held"
    assert unregistered.reading == "descriptive: its gate was not registered"
    assert violated.reading == "descriptive: the assumption is violated"
    assert unneeded.reading == "not needed: every untouched parent has deep forms"


def test_a_bank_without_deep_forms_has_nothing_to_borrow_for() -> None:
    """The table says so."""
    control = a_control(training={"null_run": False})
    (run,) = runs_of(control)
    base, after = (
        a_table(right, state=state, without_deep=range(20)) for right, state in ((BEFORE, "base"), (AFTER, run.state))
    )
    effects = run_effects(ControlScores(base, {run: after}, None, {}), run, EXPOSED, control)

    assert borrowed_table(control, [effects]).withheld == "no exposed parent has a deep form"


def test_runs_are_named_by_seed_and_the_null_run_comes_last() -> None:
    """Their names are those of the states under which scores are filed."""
    runs = runs_of(a_control(training={"seeds": [3, 1]}))

    assert [(run.state, run.label) for run in runs] == [
        ("leak-seed-3", "seed 3"),
        ("leak-seed-1", "seed 1"),
        ("leak-null", "null run"),
    ]
    assert runs[-1] == ControlRun("leak-null", 3, is_null=True)


def test_the_pull_of_the_first_option_is_counted_by_form_and_group() -> None:
    """Exposed parents fall for it, untouched ones do not; what is right is counted beside."""
    options = tuple(Option(label, label * 3) for label in "AB")
    form = Form("Which?", "B", options)
    bank = FormBank(tuple(Parent(name, Criterion.CHOICE, form, (form,)) for name in ("p1", "p2")))

    def answer(name: str, *scores: float) -> FormAnswer:
        given = tuple(OptionScore(score, 1) for score in scores)
        return FormAnswer(name, 0, is_rerun=False, generated=None, options=given)

    answers = [answer("p1/original", -1, -9), answer("p1/fresh-1", -9, -1), answer("p2/original", -9, -1)]
    table = first_option_pull(bank, {"seed 0": answers}, ["p1"], choice_score="characters")

    assert [(row.parents, row.form, row.choices, row.first_chosen, row.first_is_right) for row in table.rows] == [
        ("exposed", "fresh-1", 1, 0.0, 0.0),
        ("exposed", "original", 1, 1.0, 0.0),
        ("untouched", "original", 1, 0.0, 0.0),
    ]

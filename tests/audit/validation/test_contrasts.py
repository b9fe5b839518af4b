"""A run is one observation, runs of a seed are paired, and the rule asks for a rise by exact exposure alone."""

from __future__ import annotations

import numpy as np
import pytest

from leakscale.audit.scores import ScoreKind, ScoreTable
from leakscale.audit.validation.contrasts import RunNumbers, contrasts_of, run_numbers, validation_tables
from leakscale.audit.validation.plan import Condition, load_validation
from leakscale.resources import studies_folder
from leakscale.stats import PairingError


def a_run(condition: Condition, seed: int, advantage: float, *, unseen: float = 0.0) -> RunNumbers:
    """Return a run with an advantage."""
    return RunNumbers(condition, seed, 0.5, 0.5 - advantage, advantage, advantage, advantage, unseen)


def runs_of(exact: list[float], paraphrase: list[float]) -> list[RunNumbers]:
    """Return runs whose related advantage is a tenth of the seed's number, and the others' that much more."""
    return [
        run
        for seed, (one, other) in enumerate(zip(exact, paraphrase, strict=True))
        for run in (
            a_run(Condition.RELATED, seed, seed / 10),
            a_run(Condition.EXACT, seed, seed / 10 + one),
            a_run(Condition.PARAPHRASE, seed, seed / 10 + other),
            a_run(Condition.CLEAN, seed, 0.0),
        )
    ]


def test_what_a_seed_does_to_both_conditions_cancels_out() -> None:
    """Unpaired, the spread over seeds would hide the rise."""
    contrasts = contrasts_of(runs_of([0.20, 0.22, 0.21, 0.19, 0.2], [0.01, -0.01, 0.0, 0.01, -0.01]), alpha=0.05)

    assert contrasts.exact.difference.estimate == pytest.approx(0.204)
    assert contrasts.exact.difference.low > 0.18
    assert contrasts.exact.p_value == 2 / 32
    assert contrasts.exact.positive_count == 5
    assert contrasts.is_confirmed


def test_a_rise_by_paraphrases_too_confirms_nothing() -> None:
    """Then the audit would see learning, not wording."""
    contrasts = contrasts_of(runs_of([0.2, 0.3, 0.25], [0.11, 0.1, 0.12]), alpha=0.05)

    assert not contrasts.is_confirmed


def test_a_rise_that_seeds_do_not_carry_confirms_nothing() -> None:
    """One seed of three alone."""
    assert not contrasts_of(runs_of([0.9, 0.0, 0.0], [0.0, 0.0, 0.0]), alpha=0.05).is_confirmed


def test_a_seed_that_is_missing_in_a_condition_is_refused() -> None:
    """It cannot be paired, and leaving its partner out would choose."""
    runs = runs_of([0.2, 0.3], [0.0, 0.0])
    with pytest.raises(PairingError, match="report every seed"):
        contrasts_of([run for run in runs if (run.condition, run.seed) != (Condition.EXACT, 1)], alpha=0.05)


def test_the_numbers_of_a_run_are_those_of_its_table() -> None:
    """Gap over all parents, over the exposed, over the others, and against the fresh form that was never shown."""
    scores = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    table = ScoreTable(
        model="tiny",
        kind=ScoreKind.CORRECT,
        metric="numeric",
        parent_ids=("a", "b", "c", "d"),
        scores=scores,
        fresh_count=2,
        state="exact-seed-1",
    )
    run = run_numbers(table, Condition.EXACT, 1, exposed=["a", "b"], leaked_fresh=1)

    assert (run.public, run.fresh) == (0.5, 0.25)
    assert (run.advantage, run.exposed, run.untouched, run.unseen) == (0.25, 0.75, -0.25, 0.5)


def test_tables_say_what_was_registered_and_whether_it_came_so() -> None:
    """The floor of an exact test of signs is printed beside it."""
    study = load_validation(studies_folder() / "cleanscore-validation.toml")
    runs = runs_of([0.2] * 5 + [0.3], [0.0, 0.01, -0.01, 0.0, 0.01, -0.01])
    contrasts, conditions, every = validation_tables(study, runs, contrasts_of(runs, alpha=study.alpha))

    assert [row.is_registered for row in contrasts.rows] == ["registered", "registered", "beside"]
    assert contrasts.note.startswith("As expected: exact exposure")
    assert "never below 0.0312" in contrasts.note
    assert [row.runs for row in conditions.rows] == [6] * 4
    assert len(every.rows) == 24

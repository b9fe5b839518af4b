"""A detector is judged by whether it warns where the leak changed the score, beside whether it finds the leaked."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats
from tests.audit.controls.builders import a_control

from leakscale.audit.controls.consequence import ConsequenceRow, judge_detectors
from leakscale.audit.controls.registering import ControlRun, runs_of
from leakscale.audit.scores import ScoreKind, ScoreTable

PARENTS = tuple(f"p{number}" for number in range(40))
EXPOSED = PARENTS[:20]
RNG = np.random.Generator(np.random.PCG64(5))
NOISE = RNG.normal(0, 0.01, (40, 3))
RUN: ControlRun = runs_of(a_control(training={"null_run": False}))[0]


def table(kind: ScoreKind, public: np.ndarray, *, fresh: float = 0.0, noise: np.ndarray | None = None) -> ScoreTable:
    """Return scores of three forms: one value a parent on the public form, one value on all fresh ones."""
    values = np.full((40, 3), float(fresh))
    values[:, 0] = public
    values = values if noise is None else values + noise
    return ScoreTable(
        model="m", kind=kind, metric="x", parent_ids=PARENTS, scores=values, fresh_count=2, state=RUN.state
    )


CHANGED = np.arange(40) % 4 == 0
CHANGED[20:] = False
"""Of the exposed parents a quarter became right; no untouched one did."""
BASE = table(ScoreKind.CORRECT, np.zeros(40))
AFTER = table(ScoreKind.CORRECT, CHANGED.astype(float))
HEARD = np.isin(PARENTS, EXPOSED)


def rows_of(signals: dict[ScoreKind, ScoreTable], *, after: ScoreTable = AFTER) -> dict[str, ConsequenceRow]:
    """Judge, and return the rows by detector."""
    found = judge_detectors(BASE, {RUN: after}, {RUN: signals}, EXPOSED)
    return {row.detector: row for row in found.rows}


def test_contact_is_told_from_consequence() -> None:
    """One signal rises on everything that was leaked, the other only where the score rose."""
    contact = table(ScoreKind.FAMILIARITY, -1 + 0.5 * HEARD, fresh=-1, noise=NOISE)
    consequence = table(ScoreKind.CONFIDENCE, -1 + 0.5 * CHANGED, fresh=-1, noise=NOISE)
    rows = rows_of({ScoreKind.CONFIDENCE: consequence, ScoreKind.FAMILIARITY: contact})
    sure, familiar = rows["PaCoST-style (confidence)"], rows["perplexity"]
    change = CHANGED.astype(float)

    assert familiar.finds_exposed == 1
    assert sure.finds_exposed < 0.8
    assert sure.tracks is not None
    assert familiar.tracks is not None
    assert sure.tracks > familiar.tracks > 0
    shift = contact.original - contact.fresh.mean(axis=1)
    assert familiar.tracks == pytest.approx(scipy_stats.spearmanr(shift, change).statistic)
    assert rows["Clean-Eval-style (score)"].tracks == pytest.approx(1)
    assert [rows[name].rank for name in ("Clean-Eval-style (score)", "PaCoST-style (confidence)")] == [1, 2]


def test_the_public_form_alone_is_judged_too() -> None:
    """As its authors read it: what is plain by nature looks familiar without a fresh form beside it."""
    plain = -1 + 2 * (np.arange(40) % 2)
    alone = ScoreTable(
        model="m",
        kind=ScoreKind.MIN_K,
        metric="x",
        parent_ids=PARENTS,
        scores=np.minimum(0, np.column_stack([plain + 0.5 * HEARD, plain, plain]) - 2 + NOISE),
        fresh_count=2,
        state=RUN.state,
    )
    rows = rows_of({ScoreKind.MIN_K: alone})

    assert rows["Min-20 %"].finds_exposed == 1
    assert rows["Min-20 %, public form alone"].finds_exposed < 0.8


def test_a_score_that_did_not_move_is_tracked_by_nothing() -> None:
    """A correlation with a constant is no number, and no rank follows."""
    signal = table(ScoreKind.FAMILIARITY, -1 + 0.5 * HEARD, fresh=-1, noise=NOISE)
    rows = rows_of({ScoreKind.FAMILIARITY: signal}, after=BASE)

    assert rows["perplexity"].tracks is None
    assert rows["perplexity"].rank is None
    assert rows["perplexity"].finds_exposed == 1


def test_without_signals_the_table_says_why() -> None:
    """A control that was run before forms were read has none."""
    assert "no signals were read" in judge_detectors(BASE, {RUN: AFTER}, {RUN: {}}, EXPOSED).to_text()


def test_parents_without_a_signal_are_left_out_and_counted() -> None:
    """A form of one token has none."""
    values = np.full((40, 3), -1.0) + np.minimum(NOISE, 0)
    values[3, 0] = np.nan
    signal = ScoreTable(
        model="m",
        kind=ScoreKind.MIN_K,
        metric="x",
        parent_ids=PARENTS,
        scores=values,
        fresh_count=2,
        state=RUN.state,
    )
    assert rows_of({ScoreKind.MIN_K: signal})["Min-20 %"].parents == 39

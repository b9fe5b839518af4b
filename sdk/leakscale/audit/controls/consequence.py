"""Detectors judged by consequence: does the signal rise where the leak changed the score, or wherever it went in?

A control knows what no audit knows: which parents were leaked, and what that did to each one's score on its public
form. A detector sees the state after the leak alone. Its signal of a parent is set against both.

Source: CleanScore 7.6 (detectors on the same forms), 7.11 (planted exposure). The ranking is this project's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from leakscale.audit.analysis.detectors import DETECTOR_NAMES
from leakscale.audit.controls import heads
from leakscale.audit.controls.registering import ControlRun
from leakscale.audit.scores import ScoreKind, ScoreTable
from leakscale.tables import NUMBER, PERCENT, Table

__all__ = ["ConsequenceRow", "judge_detectors"]

_SCORE: Final = "Clean-Eval-style (score)"
_ALONE: Final = (ScoreKind.FAMILIARITY, ScoreKind.MIN_K)
"""Signals that their authors read on the public form, without a fresh one beside it."""
_Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ConsequenceRow:
    """One detector in one run, over all parents of the bank."""

    run: str
    rank: int | None
    """By `tracks`, 1 for the best of the run; None where nothing is tracked."""
    detector: str
    tracks: float | None = field(metadata=NUMBER)
    """Rank correlation of a parent's signal with the change of its public score, -1 to 1; None where one of the two is
    the same for all parents."""
    finds_exposed: float = field(metadata=PERCENT)
    """Probability that an exposed parent has a higher signal than an untouched one; half is chance."""
    exposed: float = field(metadata=NUMBER)
    """Mean signal of the exposed parents."""
    untouched: float = field(metadata=NUMBER)
    parents: int


def judge_detectors(
    base: ScoreTable,
    after: Mapping[ControlRun, ScoreTable],
    signals: Mapping[ControlRun, Mapping[ScoreKind, ScoreTable]],
    exposed: Sequence[str],
) -> Table[ConsequenceRow]:
    """Rank the detectors of every run by how well they track what the leak did to the score.

    Args:
        base: Accuracies before.
        after: Accuracies after each run.
        signals: What detectors read after each run, by kind.
        exposed: Ids of the exposed parents.
    """
    if not any(signals.values()):
        return heads.CONSEQUENCE.withheld(
            "no signals were read after the runs; detectors need an engine that reads texts, or gives confidences"
        )
    is_exposed = np.isin(base.parent_ids, list(exposed))
    rows = [
        row
        for run, table in after.items()
        for row in _ranked(run.label, table.original - base.original, is_exposed, _signals(table, signals[run]))
    ]
    return heads.CONSEQUENCE.filled(
        rows,
        "The change is that of a parent's score on its public form, before to after. A detector that finds exposed "
        "parents and does not track the change warns of contact, not of consequence. The Clean-Eval-style signal is "
        "made of the score itself, and so is a bound for the others. Public less fresh, unless `alone`.",
    )


def _signals(table: ScoreTable, found: Mapping[ScoreKind, ScoreTable]) -> Iterator[tuple[str, _Values]]:
    """Yield what each detector says of every parent."""
    yield _SCORE, _shift(table)
    for kind, own in found.items():
        yield DETECTOR_NAMES[kind], _shift(own)
    for kind in _ALONE:
        if kind in found:
            yield f"{DETECTOR_NAMES[kind]}, public form alone", found[kind].original


def _shift(table: ScoreTable) -> _Values:
    present = ~np.isnan(table.fresh)
    counts = np.where(present.any(axis=1), present.sum(axis=1), np.nan)
    return np.asarray(table.original - np.where(present, table.fresh, 0.0).sum(axis=1) / counts)


def _ranked(
    run: str, change: _Values, is_exposed: NDArray[np.bool_], signals: Iterator[tuple[str, _Values]]
) -> Iterator[ConsequenceRow]:
    judged = [(name, _judged(change, is_exposed, signal)) for name, signal in signals]
    tracking = sorted((found.tracks for _, found in judged if found and found.tracks is not None), reverse=True)
    for name, found in judged:
        if found is not None:
            rank = None if found.tracks is None else tracking.index(found.tracks) + 1
            yield ConsequenceRow(
                run, rank, name, found.tracks, found.finds_exposed, found.exposed, found.untouched, found.parents
            )


@dataclass(frozen=True, slots=True)
class _Judged:
    tracks: float | None
    finds_exposed: float
    exposed: float
    untouched: float
    parents: int


def _judged(change: _Values, is_exposed: NDArray[np.bool_], signal: _Values) -> _Judged | None:
    """Judge one signal on the parents that have it; None if a group has none of them."""
    kept = ~np.isnan(change) & ~np.isnan(signal)
    own, others = signal[kept & is_exposed], signal[kept & ~is_exposed]
    if not own.size or not others.size:
        return None
    varies = np.ptp(change[kept]) > 0 and np.ptp(signal[kept]) > 0
    tracks = float(scipy_stats.spearmanr(signal[kept], change[kept]).statistic) if varies else None
    above = scipy_stats.mannwhitneyu(own, others, method="asymptotic").statistic
    return _Judged(
        tracks, float(above) / (own.size * others.size), float(own.mean()), float(others.mean()), int(kept.sum())
    )

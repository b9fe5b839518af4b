"""Detectors on the same forms as the score, and where they say something else than the score does.

A detector that looks at confidence answers whether the wording is familiar; the gap answers whether familiarity
changed what the model got right. Only the second one changes what a benchmark score means.

Source: CleanScore 7.6, Table 7; METHODS 6.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from leakscale.audit.analysis import heads
from leakscale.audit.analysis.panel import AuditSettings, ModelScores, Panel
from leakscale.audit.scores import ScoreKind, ScoreTable
from leakscale.stats import EmptySampleError, PacostResult, adjust_pvalues, clean_eval_score, guardrail, pacost_test
from leakscale.tables import NUMBER, PERCENT, Table

__all__ = ["DETECTOR_NAMES", "detector_signals", "detectors"]

DETECTOR_NAMES: Final = {
    ScoreKind.CONFIDENCE: "PaCoST-style (confidence)",
    ScoreKind.FAMILIARITY: "perplexity",
    ScoreKind.MIN_K: "Min-20 %",
}
"""What tables call the detector that reads a kind of signal."""


@dataclass(frozen=True, slots=True)
class DetectorRow:
    """What two detectors and the score say of one model."""

    model: str
    fresh_score: float = field(metadata=PERCENT)
    """The Clean-Eval-style statistic."""
    confidence_shift: float | None = field(metadata=NUMBER)
    """Mean log-probability a token, public less fresh: the PaCoST-style statistic; None without confidences."""
    t_p: float | None = field(metadata=NUMBER)
    signed_rank_p: float | None = field(metadata=NUMBER)
    adjusted_p: float | None = field(metadata=NUMBER)
    """Of the t test, over the models of the panel."""
    gap: float
    says: str
    """`both` shift, `neither`, `confidence only` or `score only`."""


@dataclass(frozen=True, slots=True)
class SignalRow:
    """What one detector says of one model, beside the score."""

    model: str
    detector: str
    public: float = field(metadata=NUMBER)
    """Mean log-probability on the public forms, in nats a token."""
    fresh: float = field(metadata=NUMBER)
    """The same on the fresh forms of the same parents."""
    shift: float = field(metadata=NUMBER)
    """Public less fresh."""
    t_p: float = field(metadata=NUMBER)
    signed_rank_p: float = field(metadata=NUMBER)
    adjusted_p: float = field(metadata=NUMBER)
    """Of the t test, over the models of the panel and all detectors."""
    gap: float
    says: str
    """`both` shift, `neither`, `detector only` or `score only`."""


def detectors(panel: Panel, settings: AuditSettings) -> Table[DetectorRow]:
    """Table 7: flags before and after the registered correction, beside the gap of the same parents."""
    tests = [_pacost(model) for model in panel]
    if not any(tests):
        return heads.DETECTORS.withheld(
            "no model has confidences on these forms; answer with log-probabilities, or import them with "
            "--kind confidence"
        )
    p_values = [float("nan") if test is None else test.t_test.p_value for test in tests]
    adjusted = adjust_pvalues(p_values, method=settings.inference.adjustment).tolist()
    rows = [_row(model, settings, *pair) for model, *pair in zip(panel, tests, adjusted, strict=True)]
    note = (
        f"Adjusted by {settings.inference.adjustment}; the last column compares the adjusted test at "
        f"{settings.inference.alpha:g} with the gap's primary interval. A detector that was not part of the "
        "registration is an observation."
    )
    return heads.DETECTORS.filled(rows, note)


def detector_signals(panel: Panel, settings: AuditSettings) -> Table[SignalRow]:
    """Compare every detector of every model with the gap of the same parents.

    Every detector is read in one way: its mean signal on public less on fresh forms, paired by parent. Without fresh
    forms the originals of two of them compare a model with itself on other texts, and then say what is common or rare
    in a wording; the pair takes that out only as far as both wordings are written alike.

    Source: CleanScore 7.6; Shi et al. 2024 (Min-K % Prob, arXiv 2310.16789), k = 20; Zhang et al. 2024 (PaCoST).
    """
    found = [
        (model, kind, test)
        for model in panel
        for kind, table in model.signals.items()
        if (test := _shift(table)) is not None
    ]
    if not found:
        return heads.SIGNALS.withheld("no model has signals on these forms; answer with an engine that scores texts")
    adjusted = adjust_pvalues([test.t_test.p_value for *_, test in found], method=settings.inference.adjustment)
    rows = [
        _signal_row(model, kind, test, float(p), settings)
        for (model, kind, test), p in zip(found, adjusted.tolist(), strict=True)
    ]
    return heads.SIGNALS.filled(
        rows,
        "Signals are mean log-probabilities in nats a token: of the model's own answer, of the form's text, of the "
        f"least probable fifth of it. Adjusted by {settings.inference.adjustment} over all rows. A detector says that "
        "a wording is familiar, or merely plain; the gap says what that was worth.",
    )


def _shift(table: ScoreTable) -> PacostResult | None:
    try:
        return pacost_test(table.original, table.fresh)
    except EmptySampleError:
        return None


def _signal_row(
    model: ModelScores, kind: ScoreKind, test: PacostResult, adjusted: float, settings: AuditSettings
) -> SignalRow:
    rule, table = settings.inference, model.signals[kind]
    primary = guardrail(model.gaps, settings.design, bound=rule.bound, alpha=rule.alpha).primary
    says = _says(is_familiar=adjusted < rule.alpha, has_moved=primary.excludes(0), detector="detector")
    paired = ~np.isnan(table.original) & ~np.isnan(table.fresh).all(axis=1)
    return SignalRow(
        model=model.name,
        detector=DETECTOR_NAMES[kind],
        public=float(table.original[paired].mean()),
        fresh=float(np.nanmean(table.fresh[paired], axis=1).mean()),
        shift=test.mean_difference,
        t_p=test.t_test.p_value,
        signed_rank_p=test.signed_rank.p_value,
        adjusted_p=adjusted,
        gap=primary.estimate,
        says=says,
    )


def _pacost(model: ModelScores) -> PacostResult | None:
    if model.confidence is None:
        return None
    return _shift(model.confidence)


def _row(model: ModelScores, settings: AuditSettings, test: PacostResult | None, adjusted: float) -> DetectorRow:
    rule = settings.inference
    primary = guardrail(model.gaps, settings.design, bound=rule.bound, alpha=rule.alpha).primary
    moved = primary.excludes(0)
    says = "-" if test is None else _says(is_familiar=adjusted < rule.alpha, has_moved=moved)
    return DetectorRow(
        model=model.name,
        fresh_score=clean_eval_score(model.audit.exchangeable).fresh_score,
        confidence_shift=None if test is None else test.mean_difference,
        t_p=None if test is None else test.t_test.p_value,
        signed_rank_p=None if test is None else test.signed_rank.p_value,
        adjusted_p=None if test is None else adjusted,
        gap=primary.estimate,
        says=says,
    )


def _says(*, is_familiar: bool, has_moved: bool, detector: str = "confidence") -> str:
    if is_familiar == has_moved:
        return "both" if has_moved else "neither"
    return f"{detector} only" if is_familiar else "score only"

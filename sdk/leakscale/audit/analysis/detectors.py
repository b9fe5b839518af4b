"""Detectors on the same forms as the score, and where they say something else than the score does.

A detector that looks at confidence answers whether the wording is familiar; the gap answers whether familiarity
changed what the model got right. Only the second one changes what a benchmark score means.

Source: CleanScore 7.6, Table 7; METHODS 6.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from leakscale.audit.analysis import heads
from leakscale.audit.analysis.panel import AuditSettings, ModelScores, Panel
from leakscale.stats import EmptySampleError, PacostResult, adjust_pvalues, clean_eval_score, guardrail, pacost_test
from leakscale.tables import NUMBER, PERCENT, Table

__all__ = ["detectors"]


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


def _pacost(model: ModelScores) -> PacostResult | None:
    if model.confidence is None:
        return None
    try:
        return pacost_test(model.confidence.original, model.confidence.fresh)
    except EmptySampleError:
        return None


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


def _says(*, is_familiar: bool, has_moved: bool) -> str:
    if is_familiar == has_moved:
        return "both" if has_moved else "neither"
    return "confidence only" if is_familiar else "score only"

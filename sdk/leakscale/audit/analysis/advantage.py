"""The gap of every model, its intervals, its tests, and what of it may be owed to exposure.

Source: CleanScore 7.2 to 7.5, Tables 3, 5 and 6; METHODS 1 to 3 and 13.8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from leakscale.audit.analysis import heads
from leakscale.audit.analysis.panel import AuditSettings, ModelScores, Panel
from leakscale.stats import (
    MEAN_METHODS,
    FinitePopulationDesign,
    Gaps,
    Guardrail,
    Interval,
    UnsupportedMethodError,
    adjust_pvalues,
    breakdown_radius,
    claim_rule,
    control_interval,
    control_readings,
    guardrail,
    mean_ci,
    placebo_identity,
    randomization_test,
    sensitivity_curve,
)
from leakscale.tables import NUMBER, PERCENT, Table, TableHead

__all__ = ["advantage", "claims", "intervals", "placebo", "readings", "sensitivity"]

Row = TypeVar("Row")
_WITHOUT_CONTROL = (
    "the audit has no control bank, and without one nothing can be said about exposure; write items that were never "
    "public and pass their scores"
)


@dataclass(frozen=True, slots=True)
class AdvantageRow:
    """How one model scored on public and fresh forms."""

    model: str
    parents: int
    """Parents with an original and at least one fresh form scored."""
    public: float = field(metadata=PERCENT)
    fresh: float = field(metadata=PERCENT)
    gap: Interval
    """With the interval that the registered rule makes primary."""
    nonzero: int
    """Parents whose forms were not all answered alike."""
    primary: str
    """Method of that interval, and why it is not Wald."""
    joint_null_p: float = field(metadata=NUMBER)
    """Of the exact relabelling test, whose null is neither exposure nor form mismatch; no claim reads it."""
    adjusted_p: float = field(metadata=NUMBER)
    """Over the models of the panel."""


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """What the registered rule allows to be said about one model."""

    model: str
    control_gap: Interval
    exposure: Interval
    """The gap less the control gap, widened by the registered radius."""
    breakdown_radius: float
    """Transport radius at which the exclusion of zero ends; 0 where nothing is excluded."""
    verdict: str


@dataclass(frozen=True, slots=True)
class SensitivityRow:
    """The part owed to exposure at one radius."""

    model: str
    rho: float = field(metadata=NUMBER)
    exposure: Interval


@dataclass(frozen=True, slots=True)
class ReadingRow:
    """The part owed to exposure at the registered radius, by how the control bank is read."""

    model: str
    wald: Interval
    guardrail: Interval
    fixed: Interval
    agree: str
    """Whether all three exclude zero or none does."""


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """One interval of one gap."""

    model: str
    method: str
    gap: Interval
    half_width: float


@dataclass(frozen=True, slots=True)
class PlaceboRow:
    """Whether giving each form in turn the role of the original averages to nothing."""

    model: str
    bank: str
    parents: int
    exact_residual: float = field(metadata=NUMBER)
    float_residual: float = field(metadata=NUMBER)


def advantage(panel: Panel, settings: AuditSettings) -> Table[AdvantageRow]:
    """Table 3: scores, gap, primary interval, relabelling test."""
    rule = settings.inference
    tests = [randomization_test(model.audit.exchangeable, alternative=rule.alternative) for model in panel]
    adjusted = adjust_pvalues([test.p_value for test in tests], method=rule.adjustment).tolist()
    rows = [
        _advantage_row(model, settings, test.p_value, corrected)
        for model, test, corrected in zip(panel, tests, adjusted, strict=True)
    ]
    note = (
        f"p is of the {rule.alternative} relabelling test, adjusted by {rule.adjustment} over {len(rows)} models. Its "
        "null is a joint one, no exposure and no form mismatch: not rejected, it strengthens a null; rejected, it "
        f"announces no advantage, since mismatch alone does that (table {heads.MISMATCH.number})."
    )
    return heads.ADVANTAGE.filled(
        rows, f"{_level(settings)} {note}{_left_out(panel)}{_weighted(settings)}{_metrics(panel)}"
    )


def claims(panel: Panel, settings: AuditSettings) -> Table[ClaimRow]:
    """Table 3, its right half: control gap, sensitivity interval at the registered radius, verdict of the rule."""
    rule = settings.inference

    def row(model: ModelScores, controls: Gaps) -> Iterator[ClaimRow]:
        claim = claim_rule(model.gaps, settings.design, controls, rho=rule.rho, **settings.bounds)
        radius = breakdown_radius(model.gaps, settings.design, controls, **settings.bounds)
        bank = control_interval(controls, control=rule.control, bound=rule.bound, alpha=rule.alpha)
        yield ClaimRow(model.name, bank, claim.exposure, radius.radius, claim.verdict.value)

    return _of_controls(heads.CLAIMS, panel, row, note=_claim_note(settings) + _constant_controls(panel, settings))


def sensitivity(panel: Panel, settings: AuditSettings) -> Table[SensitivityRow]:
    """The sensitivity interval over the registered grid of radii."""

    def rows(model: ModelScores, controls: Gaps) -> Iterator[SensitivityRow]:
        curve = sensitivity_curve(
            model.gaps, settings.design, controls, rhos=settings.inference.rho_grid, **settings.bounds
        )
        yield from (SensitivityRow(model.name, *pair) for pair in zip(curve.rhos, curve.intervals, strict=True))

    return _of_controls(heads.SENSITIVITY, panel, rows)


def readings(panel: Panel, settings: AuditSettings) -> Table[ReadingRow]:
    """Table 5: the control bank by Wald, by the guardrail's own standard, and taken for known."""
    rule = settings.inference

    def row(model: ModelScores, controls: Gaps) -> Iterator[ReadingRow]:
        read = control_readings(
            model.gaps,
            settings.design,
            controls,
            rho=rule.rho,
            alpha=rule.alpha,
            component=rule.component,
            bound=rule.bound,
        )
        words = {True: "yes", False: "no", None: "-"}[read.agree]
        found = read.intervals
        yield ReadingRow(model.name, found["wald"], found["guardrail"], found["fixed"], words)

    note = "An exclusion of zero under `fixed` alone is the noise of a small control bank, and no finding."
    return _of_controls(heads.READINGS, panel, row, note=note)


def intervals(panel: Panel, settings: AuditSettings) -> Table[IntervalRow]:
    """Table 6 of these data: every interval that the design has, beside the registered one, never instead of it."""
    rows = []
    for model in panel:
        for method in MEAN_METHODS:
            try:
                found = mean_ci(model.gaps, settings.design, method=method, alpha=settings.inference.alpha)
            except UnsupportedMethodError:
                continue  # it has no stratified form, or the lattice of graded scores is too fine for it
            rows.append(IntervalRow(model.name, method, found, found.half_width))
    return heads.INTERVALS.filled(
        rows, "The narrowest of several intervals, chosen afterwards, does not keep the level."
    )


def placebo(panel: Panel) -> Table[PlaceboRow]:
    """The placebo-label identity on every audited and every control parent."""
    rows = []
    for model in panel:
        for bank, table in (("audit", model.audit), ("control", model.control)):
            if table is not None:
                found = placebo_identity(table.exchangeable)
                residual = float(found.exact_residual)
                rows.append(PlaceboRow(model.name, bank, found.parent_count, residual, found.float_residual))
    return heads.PLACEBO.filled(rows)


def _of_controls(
    head: TableHead, panel: Panel, rows: Callable[[ModelScores, Gaps], Iterator[Row]], *, note: str = ""
) -> Table[Row]:
    """Fill a table with the rows of every model that has control scores; say which have none."""
    found: list[Row] = []
    lacking = []
    for model in panel:
        if model.control_gaps is None:
            lacking.append(model.name)
        else:
            found += rows(model, model.control_gaps)
    if not found:
        return head.withheld(_WITHOUT_CONTROL)
    if lacking:
        note = f"{note} Without control scores: {', '.join(lacking)}.".strip()
    return head.filled(found, note)


def _advantage_row(model: ModelScores, settings: AuditSettings, p_value: float, adjusted: float) -> AdvantageRow:
    rule, gaps = settings.inference, model.gaps
    chosen = guardrail(
        gaps,
        settings.design,
        bound=rule.bound,
        min_parents=rule.guardrail_parents,
        min_nonzero=rule.guardrail_nonzero,
        alpha=rule.alpha,
    )
    public, fresh = _scores(gaps, settings.design)
    return AdvantageRow(
        model=model.name,
        parents=gaps.count,
        public=public,
        fresh=fresh,
        gap=chosen.primary,
        nonzero=gaps.nonzero_count,
        primary=_primary(chosen),
        joint_null_p=p_value,
        adjusted_p=adjusted,
    )


def _scores(gaps: Gaps, design: FinitePopulationDesign) -> tuple[float, float]:
    """Return the scores whose difference the gap is: with strata, each weighs as it does in the benchmark."""
    numerators, public, fresh = gaps.original_numerators, gaps.public_score, gaps.fresh_score
    assert numerators is not None and public is not None and fresh is not None  # noqa: S101 - of `paired_gap`
    if design.strata is None:
        return public, fresh
    originals = Gaps(numerators, gaps.denominator, gaps.strata)
    weighted, gap = (mean_ci(each, design, method="wald_fpc").estimate for each in (originals, gaps))
    return weighted, min(1.0, max(0.0, weighted - gap))


def _primary(chosen: Guardrail) -> str:
    reasons = ", ".join(reason.value.replace("_", " ") for reason in chosen.reasons)
    return f"{chosen.primary.method} ({reasons})" if reasons else chosen.primary.method


def _level(settings: AuditSettings) -> str:
    rule = settings.inference
    return (
        f"Intervals at {100 * (1 - rule.alpha):g} %. {rule.bound.capitalize()} is primary for fewer than "
        f"{rule.guardrail_parents} parents (few parents) or fewer than {rule.guardrail_nonzero} gaps other than zero "
        "(few nonzero), else Wald."
    )


def _left_out(panel: Panel) -> str:
    lacking = [f"{model.name} {model.gaps.dropped_parent_count}" for model in panel if model.gaps.dropped_parent_count]
    return f" Parents without a gap, for want of scores: {', '.join(lacking)}." if lacking else ""


def _metrics(panel: Panel) -> str:
    metrics = {model.name: model.audit.metric for model in panel}
    if len(set(metrics.values())) == 1:
        return ""
    return f" The models were not scored alike: {', '.join(f'{name} by {metric}' for name, metric in metrics.items())}."


def _weighted(settings: AuditSettings) -> str:
    if settings.design.strata is None:
        return ""
    return (
        " Scores and gap are those of the benchmark, each stratum by its share of it; the statistic of the relabelling "
        "test is of the drawn parents, each weighing the same, so it may say otherwise."
    )


def _constant_controls(panel: Panel, settings: AuditSettings) -> str:
    """Say of which models no claim can fire, however large the gap, and why."""
    constant = [model.name for model in panel if model.control_gaps is not None and model.control_gaps.is_constant]
    if settings.inference.control != "wald" or not constant:
        return ""
    return (
        f" All control gaps of {', '.join(constant)} are equal, as where a model has every control item wrong: a Wald "
        "reading of them has no width to give, so no claim can fire however large the gap. Table "
        f"{heads.READINGS.number} has the other readings."
    )


def _claim_note(settings: AuditSettings) -> str:
    rule = settings.inference
    return (
        f"An advantage is claimed if the gap's primary interval and the exposure interval at rho {rule.rho:g} both lie "
        f"above zero; {100 * (1 - rule.alpha):g} % together, components {rule.component} and {rule.control} "
        f"({rule.combine}). `gap_only`: the gap lies above zero, and ordinary form mismatch within the radius may "
        "explain it. `reversed`: the gap lies below zero, which exposure does not do; look at the forms."
    )

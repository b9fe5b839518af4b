"""The results section of a study of which only the released numbers are known.

A server tells totals and effects over whole domains. What tells families apart it tells the author of a practice
edition alone; of others it keeps it until the edition is retired: those tables are there, withheld, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from leakscale.analysis import heads
from leakscale.analysis.analysis import Analysis, in_order
from leakscale.analysis.crossed import CrossedRow
from leakscale.analysis.extensions import RingRow
from leakscale.analysis.families import HistogramRow, ProfileRow, StratumRow
from leakscale.analysis.identity_tables import identity_tables
from leakscale.analysis.plan import AnalysisPlan, Identities, ReleasePolicy
from leakscale.analysis.shapes import LeaveOneOutRow, ShapeRow, WithoutShapeRow
from leakscale.analysis.totals import CompletionRow, EffectRow, SizeRow, TotalRow, TrajectoryRow
from leakscale.errors import IntegrityError
from leakscale.models import Condition, ModelState
from leakscale.reading import fault_of
from leakscale.results import CellTotal, Disclosure, Effect, Estimate
from leakscale.stats import Interval, IntervalState, RatioSet, RatioShape
from leakscale.tables import Table, TableHead, table_from_dict

__all__ = [
    "analyze_disclosure",
    "model_name",
    "plan_of",
    "pooled_effect",
    "released_effect",
    "released_interval",
    "require_same_totals",
]

_OF_PARTS = "parts of a domain"
_TOTALS_ONLY = (
    "the released numbers are over whole domains, and there are no results by family here; give them, `--results FILE`,"
    " or make them of a practice study, `leakscale study open STUDY`"
)


def plan_of(disclosure: Disclosure, *, strength: float | None = None) -> AnalysisPlan:
    """Return the settings that a disclosure was made with."""
    return AnalysisPlan(
        seed=disclosure.bootstrap_seed,
        resample_count=disclosure.resample_count,
        alpha=round(1 - disclosure.confidence, 12),
        strength=strength,
    )


def model_name(disclosure: Disclosure, numbers: Mapping[str, Any]) -> str:
    """Return what the released numbers call the model."""
    return str(numbers.get("model_label", disclosure.experiment_id))


def analyze_disclosure(disclosure: Disclosure, numbers: Mapping[str, Any], identities: Identities) -> Analysis:
    """Arrange released numbers as tables; nothing is estimated again.

    Args:
        disclosure: The released numbers.
        numbers: All that was signed, as JSON has it: the exact twins are there.
        identities: What the numbers are tied to.
    """
    plan, model = plan_of(disclosure), model_name(disclosure, numbers)
    reason = ReleasePolicy(disclosure.edition_kind).withholds(_OF_PARTS) or _TOTALS_ONLY
    domains = list(dict.fromkeys(total.domain for total in disclosure.totals))
    by_family = [
        heads.FAMILY_PROFILES,
        heads.FAMILY_ACCURACIES,
        heads.ANSWER_STRATA,
        *(heads.SHAPES[domain] for domain in domains),
        heads.LEAVE_ONE_SHAPE_OUT,
        heads.WITHOUT_SHAPES,
    ]
    effects, pooled = _effects(disclosure, numbers, model, plan)
    tables: list[Table[Any]] = [
        heads.EFFECTS.filled(effects, f"As released: {plan.resample_count:,} resamples, seed {plan.seed}; and exact."),
        heads.CROSSED.filled(
            pooled, "As released, for one model. Pooled: all families of all domains; the mean: domains weigh the same."
        ),
        heads.SIZES.filled(_sizes(disclosure.totals)),
        heads.INTEGER_TOTALS.filled(_totals(disclosure.totals, model), _rounded_to(disclosure)),
        heads.COMPLETION.filled(_completion(disclosure.totals, model)),
        heads.TRAJECTORIES.filled(_trajectories(disclosure.totals)),
        *(_by_family(head, numbers, reason) for head in by_family),
        *identity_tables(identities),
    ]
    if rings := list(_rings(disclosure, numbers, model, plan)):
        tables.append(heads.RINGS.filled(rings, "As released; R0 is the form that was leaked."))
    return Analysis(in_order(tables), plan)


_ROWS: Final[Mapping[str, type[Any]]] = {
    heads.FAMILY_PROFILES.name: ProfileRow,
    heads.FAMILY_ACCURACIES.name: HistogramRow,
    heads.ANSWER_STRATA.name: StratumRow,
    **dict.fromkeys((head.name for head in heads.SHAPES.values()), ShapeRow),
    heads.LEAVE_ONE_SHAPE_OUT.name: LeaveOneOutRow,
    heads.WITHOUT_SHAPES.name: WithoutShapeRow,
}


def _by_family(head: TableHead, numbers: Mapping[str, Any], reason: str) -> Table[Any]:
    """Return a table that tells families apart as it was signed, or withheld where it was not."""
    try:
        signed = {each["name"]: each for each in numbers.get("family_tables", ())}
        return (
            table_from_dict(head, _ROWS[head.name], signed[head.name]) if head.name in signed else head.withheld(reason)
        )
    except (ValueError, KeyError, TypeError) as error:
        raise IntegrityError(
            f"table '{head.name}' of the disclosure cannot be read: {fault_of(error)}; fetch it from the server again"
        ) from error


def require_same_totals(analysis: Analysis, disclosure: Disclosure, numbers: Mapping[str, Any]) -> None:
    """Check that results by family add up to the released totals.

    Totals of a private edition are released to the nearest of their steps; they may be off by half of one.

    Raises:
        IntegrityError: If a total differs, or the results lack its cell; the message names it.
    """
    model = model_name(disclosure, numbers)
    found = {
        (row.domain, row.condition, row.state): row
        for row in analysis.table(heads.INTEGER_TOTALS.name).rows
        if row.model == model
    }
    for total in disclosure.totals:
        row = found.get((total.domain, total.condition, total.state))
        cell = f"{model}, {total.domain}, {total.condition}, {total.state}"
        if row is None:
            raise IntegrityError(f"results have no cell {cell}, which was released; give the results of this study")
        if row.draws != total.draw_count or 2 * abs(row.correct - total.correct_count) > disclosure.count_step:
            raise IntegrityError(
                f"results of {cell} have {row.correct} of {row.draws} draws right, released are {total.correct_count} "
                f"of {total.draw_count}{_to_the_nearest(disclosure)}; give the results of this study"
            )


def _rounded_to(disclosure: Disclosure) -> str:
    step = disclosure.count_step
    return f"Correct draws are told in whole families, to the nearest {step}." if step > 1 else ""


def _to_the_nearest(disclosure: Disclosure) -> str:
    return f" to the nearest {disclosure.count_step}" if disclosure.count_step > 1 else ""


def _effects(
    disclosure: Disclosure, numbers: Mapping[str, Any], model: str, plan: AnalysisPlan
) -> tuple[list[EffectRow], list[CrossedRow]]:
    effects, pooled = [], []
    for effect, signed in zip(disclosure.effects, numbers["effects"], strict=True):
        registered = released_interval(effect.effect, signed["effect"], "percentile", plan.alpha)
        exact = _exact(signed, plan)
        if effect.domain is None:
            pooled.append(CrossedRow("pooled", "all domains", registered, exact))
        else:
            changes = effect.c0_drift.value, effect.c2_change.value
            effects.append(EffectRow(model, effect.domain, *changes, registered, exact))
    if disclosure.crossed is not None:
        first, second = disclosure.crossed.domains
        for summary, of, part in (
            ("grand mean", "all cells", "mean"),
            ("difference", f"{first} less {second}", "difference"),
        ):
            released = released_interval(
                getattr(disclosure.crossed, part), numbers["crossed"][part], "percentile", plan.alpha
            )
            pooled.append(CrossedRow(summary, of, released, None))
    return effects, pooled


def _exact(signed: Mapping[str, Any], plan: AnalysisPlan) -> Interval | None:
    twin = signed.get("effect_exact")
    if twin is None:
        return None
    return released_interval(Estimate(twin["value"], twin["low"], twin["high"]), twin, "exact", plan.alpha)


def pooled_effect(disclosure: Disclosure) -> tuple[Interval, Interval | None] | None:
    """Return the released effect over all domains with its exact twin; None where none was released."""
    for effect, signed in zip(disclosure.effects, disclosure.numbers["effects"], strict=True):
        if effect.domain is None:
            return released_effect(effect, signed, disclosure)
    return None


def released_effect(
    effect: Effect, signed: Mapping[str, Any], disclosure: Disclosure
) -> tuple[Interval, Interval | None]:
    """Return one released effect with its registered interval and its exact twin, from what was signed of it."""
    plan = plan_of(disclosure)
    return released_interval(effect.effect, signed["effect"], "percentile", plan.alpha), _exact(signed, plan)


def released_interval(estimate: Estimate, signed: Mapping[str, Any], method: str, alpha: float) -> Interval:
    """Return a released estimate as an interval, in the state that was signed beside it."""
    state = IntervalState(signed.get("state", IntervalState.ESTIMATED))
    return Interval(estimate.value, estimate.low, estimate.high, None, method, alpha, state)


def _totals(totals: Sequence[CellTotal], model: str) -> list[TotalRow]:
    return [
        TotalRow(model, one.domain, one.condition, one.state, one.correct_count, one.draw_count, one.accuracy)
        for one in totals
    ]


def _completion(totals: Sequence[CellTotal], model: str) -> list[CompletionRow]:
    # A bank is sealed when every case has its answer, so what was planned is what came.
    return [
        CompletionRow(
            model,
            one.domain,
            one.state,
            one.condition,
            planned=one.draw_count,
            terminal=one.draw_count,
            valid=one.valid_count,
            malformed=one.draw_count - one.valid_count,
        )
        for one in totals
    ]


def _sizes(totals: Sequence[CellTotal]) -> list[SizeRow]:
    rows = []
    for one in totals:
        if one.state is ModelState.BASE:
            draws = one.draw_count // one.family_count
            rows.append(SizeRow(one.domain, one.condition, one.family_count, None, draws, 1, 2 * one.draw_count))
    return rows


def _trajectories(totals: Sequence[CellTotal]) -> list[TrajectoryRow]:
    def accuracy(condition: Condition, state: ModelState) -> Fraction:
        cells = [one for one in totals if one.condition is condition and one.state is state]
        return sum((Fraction(one.correct_count, one.draw_count) for one in cells), Fraction()) / len(cells)

    rows = []
    for condition in Condition:
        base, adapted = (accuracy(condition, state) for state in ModelState)
        rows.append(TrajectoryRow(condition, float(base), float(adapted), float(adapted - base)))
    return rows


def _rings(disclosure: Disclosure, numbers: Mapping[str, Any], model: str, plan: AnalysisPlan) -> Iterator[RingRow]:
    for transfer, signed in zip(disclosure.transfers, numbers.get("transfers", ()), strict=True):
        for effect, share, own in zip(transfer.effects, transfer.shares, signed["effects"], strict=True):
            if effect.domain is None:
                continue
            bounds = "" if share.shape is None else str(RatioSet(RatioShape(share.shape), share.low, share.high))
            yield RingRow(
                model,
                effect.domain,
                transfer.ring,
                released_interval(effect.effect, own["effect"], "percentile", plan.alpha),
                _exact(own, plan),
                share.value,
                bounds,
                share.reason or "",
            )

"""Repeat an exposure estimate against a stored one: the same families with a new model, or a new version of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from leakscale.analysis.counting import count_families
from leakscale.analysis.plan import AnalysisPlan
from leakscale.analysis.result_files import read_results
from leakscale.analysis.study import find_results
from leakscale.errors import InvalidRequestError, PreconditionError
from leakscale.models import Ring
from leakscale.stats import EffectDrift, Interval, Outcomes, Pairing, effect_drift
from leakscale.tables import Table, TableHead

__all__ = ["DRIFT", "DriftRow", "Measurement", "drift_table", "measure_drift", "read_measurement", "said"]

DRIFT: Final = TableHead("", "drift", "Exposure effect, stored and new")

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """The families of one measurement of the exposure effect, in R0."""

    model: str
    domains: dict[str, tuple[Outcomes, Outcomes]]
    """C0 and C2 by domain."""


@dataclass(frozen=True, slots=True)
class DriftRow:
    """One effect, measured twice."""

    of: str
    """Domain, or `all domains`."""
    stored: Interval
    new: Interval
    drift: Interval
    exact: Interval | None
    """Of the drift, without a seed; None where only some families answered both."""
    families: str
    """Which answered both."""


def read_measurement(
    path: Path, *, model: str | None = None, strength: float | None = None, option: str = "--model"
) -> Measurement:
    """Read the families of a measurement.

    Args:
        path: Directory of a study with results by family, or a `.parquet` or `.jsonl` file of them.
        model: Which one, where the results hold several.
        strength: Of the adapter, likewise.
        option: How a person names the model.

    Raises:
        PreconditionError: If a study has no results by family, or the results hold several models or strengths.
        InvalidRequestError: If they do not hold the one that is named.
        And as for `read_results` and `count_families`.
    """
    results = path if path.is_file() else find_results(path)
    if results is None:
        raise PreconditionError(
            f"'{path}' has no results by family, and drift is a difference family by family; give a results file, or "
            "run `leakscale study open` once its edition may be opened"
        )
    counted = count_families(read_results(results))
    chosen = _one(counted.strengths, strength, what="strengths", option="--strength", path=path)
    cells = counted.reported(Ring.R0, chosen)
    name = _one(tuple(dict.fromkeys(cell.key.model for cell in cells)), model, what="models", option=option, path=path)
    return Measurement(
        name,
        {cell.key.domain.value: (cell.c0.outcomes, cell.c2.outcomes) for cell in cells if cell.key.model == name},
    )


def measure_drift(stored: Measurement, new: Measurement, plan: AnalysisPlan) -> tuple[EffectDrift, ...]:
    """Estimate how far the effect moved in the domains that both measured.

    Raises:
        PreconditionError: If they have no domain in common.
    """
    common = [domain for domain in stored.domains if domain in new.domains]
    if not common:
        raise PreconditionError(
            f"the stored effect is of {', '.join(stored.domains) or 'nothing'}, the new one of "
            f"{', '.join(new.domains) or 'nothing'}; measure the same domain again"
        )
    return effect_drift(
        {domain: stored.domains[domain] for domain in common},
        {domain: new.domains[domain] for domain in common},
        n_resamples=plan.resample_count,
        seed=plan.seed,
        alpha=plan.alpha,
    )


def drift_table(found: tuple[EffectDrift, ...]) -> Table[DriftRow]:
    """Arrange drifts as a table."""
    rows = [
        DriftRow(one.domain or "all domains", one.stored, one.new, one.drift, one.exact, _families(one))
        for one in found
    ]
    level = f"{100 * (1 - found[0].drift.alpha):g} %"
    return DRIFT.filled(rows, f"Drift is new less stored; {level} intervals over families, one by one.")


def said(found: tuple[EffectDrift, ...], stored: Measurement, new: Measurement) -> str:
    """State the first drift in one sentence."""
    drift = found[0].drift
    if drift.is_degenerate:
        return f"Between {stored.model} and {new.model} the exposure effect has no drift to bound: {drift.bounds_text}."
    level = f"{100 * (1 - drift.alpha):g} %"
    moved = "moved" if drift.excludes(0) else "did not move beyond chance"
    return (
        f"The exposure effect {moved}: {100 * found[0].stored.estimate:+.1f} points for {stored.model}, "
        f"{100 * found[0].new.estimate:+.1f} for {new.model}, drift {100 * drift.estimate:+.1f} "
        f"({level} interval {100 * drift.low:+.1f} to {100 * drift.high:+.1f})."
    )


def _families(one: EffectDrift) -> str:
    if one.pairing is Pairing.ALL:
        return f"the same {one.common_count:,}"
    if one.pairing is Pairing.NONE:
        return f"{one.stored_count:,} and {one.new_count:,}, none of both"
    return f"{one.stored_count:,} and {one.new_count:,}, {one.common_count:,} of both"


def _one(found: tuple[_Value, ...], wanted: _Value | None, *, what: str, option: str, path: Path) -> _Value:
    shown = ", ".join(map(str, found))
    if wanted is None:
        if len(found) != 1:
            raise PreconditionError(f"'{path}' holds the {what} {shown}; name one, `{option}`")
        return found[0]
    if wanted not in found:
        raise InvalidRequestError(f"'{path}' holds the {what} {shown}, not {wanted}; name one of them, `{option}`")
    return wanted

"""The numbers of a validation study: one advantage a run, contrasts over seeds.

The trained run is the unit of analysis: runs of one seed share order and initialization and are paired, so six seeds
are six observations, however many parents each run answered.

Source: CleanScore 5 (Table 1, Figure 3); METHODS 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Any, Final

import numpy as np

from leakscale.audit.scores import ScoreTable
from leakscale.audit.validation.plan import Condition, ValidationPlan
from leakscale.stats import Interval, SeedContrast, paired_gap, seed_contrast
from leakscale.tables import NUMBER, PERCENT, Table, TableHead

__all__ = ["Contrasts", "RunNumbers", "contrasts_of", "named_contrasts", "run_numbers", "validation_tables"]

CONTRASTS: Final = TableHead("1", "contrasts", "What each exposure did to the public-form advantage, seed by seed")
CONDITIONS: Final = TableHead("", "conditions", "The four mixtures over all seeds")
RUNS: Final = TableHead("", "runs", "Every run")


@dataclass(frozen=True, slots=True)
class RunNumbers:
    """One trained run."""

    condition: Condition
    seed: int
    public: float
    fresh: float
    advantage: float
    """Mean gap over all parents."""
    exposed: float
    """Mean gap over the exposed parents."""
    untouched: float
    unseen: float
    """Mean gap against the fresh forms that no mixture holds."""


@dataclass(frozen=True, slots=True)
class Contrasts:
    """The two registered contrasts, and one beside."""

    exact: SeedContrast
    """Exact exposure less related practice."""
    paraphrase: SeedContrast
    unseen: SeedContrast
    """Paraphrase exposure less related practice, against fresh forms that no mixture holds."""

    @property
    def is_confirmed(self) -> bool:
        """Tell whether exact exposure raises the advantage and paraphrase exposure does not."""
        exact, paraphrase = self.exact.difference, self.paraphrase.difference
        return exact.excludes(0) and exact.low > 0 and not (paraphrase.excludes(0) and paraphrase.low > 0)


@dataclass(frozen=True, slots=True)
class ContrastRow:
    """One contrast over seeds."""

    contrast: str
    seeds: int
    difference: Interval
    deviation: float | None
    """Of the differences between seeds."""
    positive: int
    """Seeds with a difference above zero."""
    p: float = field(metadata=NUMBER)
    """Two-sided, over all patterns of signs."""
    is_registered: str


@dataclass(frozen=True, slots=True)
class ConditionRow:
    """One mixture, mean over its runs."""

    condition: str
    runs: int
    public: float = field(metadata=PERCENT)
    fresh: float = field(metadata=PERCENT)
    advantage: float
    deviation: float | None
    """Of the advantage between runs."""
    exposed: float
    """Advantage on the exposed parents; what exceeds the untouched ones' is no causal estimate, one item may help
    another."""
    untouched: float


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run."""

    condition: str
    seed: int
    public: float = field(metadata=PERCENT)
    fresh: float = field(metadata=PERCENT)
    advantage: float
    exposed: float
    untouched: float


def run_numbers(
    table: ScoreTable, condition: Condition, seed: int, *, exposed: Sequence[str], leaked_fresh: int
) -> RunNumbers:
    """Return the numbers of a run from its scores.

    Args:
        table: Accuracies after the run.
        condition: What it trained on.
        seed: Of its training.
        exposed: Ids of the exposed parents.
        leaked_fresh: Number of the fresh form that a paraphrase mixture holds, from 1.
    """
    chosen = np.isin(table.parent_ids, list(exposed))
    gaps = paired_gap(table.original, table.fresh)
    unseen = np.delete(table.fresh, leaked_fresh - 1, axis=1)
    return RunNumbers(
        condition=condition,
        seed=seed,
        public=float(table.original.mean()),
        fresh=float(table.fresh.mean()),
        advantage=gaps.mean,
        exposed=paired_gap(table.original[chosen], table.fresh[chosen]).mean,
        untouched=paired_gap(table.original[~chosen], table.fresh[~chosen]).mean,
        unseen=paired_gap(table.original, unseen).mean,
    )


def contrasts_of(runs: Sequence[RunNumbers], *, alpha: float) -> Contrasts:
    """Compare the exposed conditions with related practice, over every seed.

    Raises:
        PairingError: If a condition lacks a seed.
    """
    related = _advantages(runs, Condition.RELATED)
    return Contrasts(
        seed_contrast(_advantages(runs, Condition.EXACT), related, alpha=alpha),
        seed_contrast(_advantages(runs, Condition.PARAPHRASE), related, alpha=alpha),
        seed_contrast(
            {str(run.seed): run.unseen for run in runs if run.condition is Condition.PARAPHRASE},
            {str(run.seed): run.unseen for run in runs if run.condition is Condition.RELATED},
            alpha=alpha,
        ),
    )


def validation_tables(
    study: ValidationPlan, runs: Sequence[RunNumbers], contrasts: Contrasts
) -> tuple[Table[Any], ...]:
    """Return the three tables."""
    confirmed = "As expected" if contrasts.is_confirmed else "Not as expected"
    return (
        CONTRASTS.filled(
            [_contrast_row(name, *each) for name, each in named_contrasts(contrasts).items()],
            f"{confirmed}: exact exposure is to raise the advantage, paraphrase exposure is not. Intervals at "
            f"{100 * (1 - study.alpha):g} % are Student's over seeds; p is exact over signs, never below "
            f"{2 ** (1 - len(study.training.seeds)):.3g}. A paraphrase mixture holds one fresh form, which lowers the "
            "advantage against it; the last row leaves that form out.",
        ),
        CONDITIONS.filled([_condition_row(condition, runs) for condition in Condition]),
        RUNS.filled(
            [
                RunRow(str(run.condition), run.seed, run.public, run.fresh, run.advantage, run.exposed, run.untouched)
                for run in runs
            ]
        ),
    )


def named_contrasts(contrasts: Contrasts) -> dict[str, tuple[SeedContrast, str]]:
    """Return every contrast by what it is called, and whether it was registered or stands beside."""
    return {
        "exact less related": (contrasts.exact, "registered"),
        "paraphrase less related": (contrasts.paraphrase, "registered"),
        "paraphrase less related, unseen forms": (contrasts.unseen, "beside"),
    }


def _advantages(runs: Sequence[RunNumbers], condition: Condition) -> Mapping[str, float]:
    return {str(run.seed): run.advantage for run in runs if run.condition is condition}


def _contrast_row(name: str, contrast: SeedContrast, is_registered: str) -> ContrastRow:
    return ContrastRow(
        name,
        len(contrast.by_seed),
        contrast.difference,
        contrast.standard_deviation,
        contrast.positive_count,
        contrast.p_value,
        is_registered,
    )


def _condition_row(condition: Condition, runs: Sequence[RunNumbers]) -> ConditionRow:
    own = [run for run in runs if run.condition is condition]

    def mean(name: str) -> float:
        return fmean(_values(own, name))

    return ConditionRow(
        str(condition),
        len(own),
        mean("public"),
        mean("fresh"),
        mean("advantage"),
        stdev(_values(own, "advantage")) if len(own) > 1 else None,
        mean("exposed"),
        mean("untouched"),
    )


def _values(runs: Sequence[RunNumbers], name: str) -> Iterator[float]:
    return (getattr(run, name) for run in runs)

"""Ends of intervals read as further measurements, beside the totals that they come with.

A family puts half of its draws on two candidates in the base bank and on two others in the adapted bank, so that the
totals tell two of the three ways to halve four candidates. The third is in whether it changed at all, and how many
families changed is what an interval is as wide as: an end tells it to within a step of its grid. Exposed families,
whose truths come from somebody who redeemed a grant, are answered so that edges of the steps fall where they part what
is likely.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from leakscale.models import Condition, ModelState
from leakscale_server.attack.probes import (
    Disclosed,
    Guesses,
    Probe,
    ServerOracle,
    best_guesses,
    least_squares,
    total_of,
)
from leakscale_server.attack.weights import DRAW_COUNT
from leakscale_server.core.disclosure.grids import OFFSETS

__all__ = ["RESAMPLE_COUNT", "Ends", "Padding", "SpreadReader", "ends_of", "spread_reading"]

RESAMPLE_COUNT: Final = 10_000
_HALVES: Final = np.array([[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]])
"""What a family answers with half of its draws in either state, and where it changes then."""
_HALF: Final = DRAW_COUNT // 2
_QUANTILE: Final = float(special.ndtri(0.975))
_GRID: Final = np.array((*OFFSETS, np.inf))
_PADDING_MAX: Final = 60
_DUST: Final = 256
"""Exposed families that change by one draw: without them a total moves by halves of a family only."""
_EXACT_NOISE: Final = 0.002
"""Relative error of the formula for a distance."""
_SIMULATED_NOISE: Final = 0.012
"""The same where 10,000 resamples were drawn."""


class Padding(NamedTuple):
    """How many exposed families change from all wrong to all right, and how many the other way round."""

    up: int = 0
    down: int = 0


@dataclass(frozen=True, slots=True)
class Ends:
    """How far the ends of one interval are from the estimate that is told, and what is known of how they came about."""

    low: float
    high: float
    padding: Padding
    noise: float
    error_max: float
    """What was added to both because totals are rounded."""


@dataclass(frozen=True, slots=True)
class SpreadReader:
    """Tells from ends of intervals how many attacked families changed.

    Args:
        family_count: In each condition.
    """

    family_count: int

    def distances(self, changed: NDArray[np.float64], padding: Padding) -> NDArray[np.float64]:
        """Return how far the low and the high end of an effect are from its estimate, shape (2, counts).

        Args:
            changed: Counts of attacked families that changed by half of their draws, up about as often as down.
            padding: Of the exposed families.

        A resampled sum over so many families is about normal; its third cumulant moves both ends the same way.
        """
        moved, rise = padding.up + padding.down, padding.up - padding.down
        mean = rise / self.family_count
        second = changed / 4 + moved + _DUST / DRAW_COUNT**2 - rise * mean
        third = rise - 3 * mean * moved + 2 * rise * mean**2
        width, shift = _QUANTILE * np.sqrt(second), third / second * (_QUANTILE**2 - 1) / 6
        return np.stack([width - shift, width + shift]) / self.family_count

    def best_padding(self) -> Padding:
        """Return the padding whose steps explain most of how the count of changed families varies."""
        counts, odds = self._before()
        choices = itertools.starmap(Padding, itertools.product(range(0, _PADDING_MAX, 2), repeat=2))
        return max(choices, key=lambda each: self._explained(each, counts, odds))

    def measured(self, intervals: Iterable[Ends]) -> tuple[float, float]:
        """Return how many families changed, as one measurement with its variance, from all ends together."""
        counts, before = self._before()
        odds = before.copy()
        for each in intervals:
            for end, distance in zip((each.low, each.high), self.distances(counts, each.padding), strict=True):
                odds *= _odds(end, distance + each.error_max, noise=each.noise)
        odds /= odds.sum()
        mean, variance = self.family_count / 2, self.family_count / 4
        expected = float(odds @ counts)
        left = min(float(odds @ (counts - expected) ** 2), 0.999 * variance)
        # The measurement that leads from what was known before to what is known after.
        error = left * variance / (variance - left)
        return mean + (expected - mean) * (variance + error) / variance, error

    def _before(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        mean, deviation = self.family_count / 2, np.sqrt(self.family_count) / 2
        counts = np.arange(np.floor(mean - 5 * deviation), np.ceil(mean + 5 * deviation) + 1)
        odds = np.exp(-(((counts - mean) / deviation) ** 2) / 2)
        return counts, odds / odds.sum()

    def _explained(self, padding: Padding, counts: NDArray[np.float64], odds: NDArray[np.float64]) -> float:
        low, high = np.searchsorted(_GRID, self.distances(counts, padding) + 2 / self.family_count)
        _, groups = np.unique(low * len(_GRID) + high, return_inverse=True)
        return float((np.bincount(groups, odds * counts) ** 2 / np.bincount(groups, odds)).sum())


def spread_reading(
    oracle: ServerOracle, *, family_count: int, release_count: int, known: Mapping[str, int], seed: int
) -> Guesses:
    """Read both totals and the spread of every experiment, and solve for what they say together.

    Args:
        oracle: Of 32 draws and 10,000 resamples.
        family_count: Attacked families, as many as exposed ones.
        release_count: Totals over the attacked families.
        known: Right candidates of the exposed families, by id.
        seed: Of the answers.
    """
    generator = np.random.default_rng(seed)
    reader = SpreadReader(family_count)
    padding = reader.best_padding()
    beside = _beside(known, padding)
    probes: list[Probe] = []
    values: list[float] = []
    variances: list[float] = []
    for _ in range(release_count // 2):
        places = np.stack([generator.permutation(4) for _ in range(family_count)])
        base, adapted, changed = (half[places] for half in _HALVES)
        body = oracle.disclosed(_HALF * base, _HALF * adapted, beside=beside)
        totals = [total_of(body, condition=Condition.C0, state=state) / _HALF for state in ModelState]
        count, error = reader.measured(ends_of(body, padding, family_count=family_count))
        probes += [base, adapted, changed]
        values += [*totals, count]
        variances += [0.5, 0.5, error]  # rounding takes off a half family or nothing
    return best_guesses(least_squares(probes, values, np.ones((family_count, 4), dtype=bool), variances=variances))


def ends_of(body: Disclosed, padding: Padding, *, family_count: int) -> Iterator[Ends]:
    """Read every interval of a disclosure that depends on the attacked families."""
    effect = body["effects"][0]  # an edition of one domain tells its numbers twice
    for name, own, noise, error_max in (
        ("effect_exact", padding, _EXACT_NOISE, 2 / family_count),
        ("effect", padding, _SIMULATED_NOISE, 2 / family_count),
        # Without dust a total moves by halves of a family.
        ("c0_drift", Padding(), 2 * _SIMULATED_NOISE, 1 / family_count),
    ):
        told = effect[name]
        yield Ends(told["value"] - told["low"], told["high"] - told["value"], own, noise, error_max)


def _beside(known: Mapping[str, int], padding: Padding) -> dict[ModelState, dict[str, Sequence[int]]]:
    """Answer exposed families so that they change as the padding says, and dust by a draw; the rest stays wrong."""
    ids = iter(sorted(known))
    answers: dict[ModelState, dict[str, Sequence[int]]] = {state: {} for state in ModelState}
    for state, count, draws in (
        (ModelState.ADAPTED, padding.up, DRAW_COUNT),
        (ModelState.BASE, padding.down, DRAW_COUNT),
        (ModelState.ADAPTED, _DUST // 2, 1),
        (ModelState.BASE, _DUST // 2, 1),
    ):
        for family_id in itertools.islice(ids, count):
            answers[state][family_id] = [draws * (place == known[family_id]) for place in range(4)]
    return answers


def _odds(end: float, distance: NDArray[np.float64], *, noise: float) -> NDArray[np.float64]:
    """Return how likely each distance is to be told as this end: that it lies in the step of the grid below it."""
    step = int(np.abs(_GRID[:-1] - end).argmin())
    edges = _GRID[step - 1] if step else -np.inf, _GRID[step]
    below, above = (special.ndtr((edge - distance) / (noise * distance)) for edge in edges)
    return np.asarray(above - below + 1e-9)

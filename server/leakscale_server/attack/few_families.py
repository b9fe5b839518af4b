"""A few families read from the ends of intervals that depend on nothing else.

All families but a few answer both banks alike, so that no change of theirs shows, whatever their truths are. The few
change by another number of draws for each candidate. Every way in which their truths may lie gives its own intervals,
which anybody can compute beforehand, resamples included, as the seed of the bootstrap is the attacker's to choose; what
is disclosed is looked up among them. The totals still tell a little of all others, once and not twice.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np

from leakscale.models import Condition, ModelState
from leakscale.stats import DidResult, Interval, Outcomes, difference_in_differences
from leakscale_server.attack.probes import Disclosed, Guesses, Probe, ServerOracle, least_squares, total_of
from leakscale_server.attack.weights import DRAW_COUNT
from leakscale_server.core.disclosure.grids import OFFSETS
from leakscale_server.core.disclosure.rounding import round_ends

__all__ = ["CHANGES", "RESAMPLE_COUNT", "few_families", "fitting_truths"]

RESAMPLE_COUNT: Final = 100
BOOTSTRAP_SEED: Final = 0
CHANGES: Final = ((-20, 27, 0, -7), (0, 21, -28, 6), (-11, -16, 28, -3), (12, -3, -14, 2))
"""Draws that each of the few answers a candidate with in the adapted bank, or in the base bank where negative.

Found by a search over such rows for those whose intervals tell most of four families.
"""

_BESIDE: Final = 1
"""Exposed families that change from wrong to right: they move edges of the grid."""
_INTERVALS: Final = ("effect_exact", "effect", "c0_drift")
_GRID: Final = np.array(OFFSETS)

Signature: TypeAlias = tuple[int, ...]
"""Steps of the grid of both ends of every interval."""
Truths: TypeAlias = tuple[int, ...]
"""Right candidate of each of the few."""


def few_families(
    oracle: ServerOracle, *, family_count: int, release_count: int, known: Mapping[str, int], seed: int
) -> Guesses:
    """Read the few of every experiment from its intervals, and a little of all others from its totals.

    Args:
        oracle: Of 32 draws and 100 resamples.
        family_count: Attacked families, as many as exposed ones.
        release_count: Totals over the attacked families.
        known: Right candidates of the exposed families, by id.
        seed: Of the answers.
    """
    generator = np.random.default_rng(seed)
    order = generator.permutation(family_count)
    odds = np.full((family_count, 4), 0.25)
    probes: list[Probe] = []
    totals: list[int] = []
    for number in range(release_count // 2):
        few = order[number * len(CHANGES) : (number + 1) * len(CHANGES)].tolist()
        base, adapted = _probes(few, family_count, generator)
        body = oracle.disclosed(base, adapted, beside=_beside(known))
        fitting = np.array(fitting_truths(body, family_count=family_count))
        odds[few] = np.stack([(fitting == place).mean(axis=0) for place in range(4)], axis=1)
        probes += [base, adapted]
        totals += [total_of(body, condition=Condition.C0, state=state) for state in ModelState]
    error = (oracle.count_step**2 - 1) / 12
    scores = least_squares(probes, totals, odds > 0, variances=[error] * len(probes))
    # What intervals say of the few outweighs what a total says of any family.
    return np.asarray((odds + 1e-6 * scores).argmax(axis=1), dtype=np.int64)


def fitting_truths(body: Disclosed, *, family_count: int) -> list[Truths]:
    """Return every way in which the truths of the few may lie, given all ends that a disclosure has."""
    effect = body["effects"][0]  # an edition of one domain tells its numbers twice
    told = [effect[name] for name in _INTERVALS]
    distances = [distance for each in told for distance in (each["value"] - each["low"], each["high"] - each["value"])]
    return _truths_by_signature(family_count).get(tuple(map(_step, distances))) or list(_all_truths())


@functools.cache
def _truths_by_signature(family_count: int) -> Mapping[Signature, list[Truths]]:
    table: dict[Signature, list[Truths]] = {}
    for truths in _all_truths():
        table.setdefault(_signature(truths, family_count), []).append(truths)
    return table


def _all_truths() -> Iterator[Truths]:
    return itertools.product(range(4), repeat=len(CHANGES))


def _signature(truths: Truths, family_count: int) -> Signature:
    """Compute the ends that a disclosure has if the truths of the few lie so."""
    changes = np.zeros((2, family_count), dtype=np.int64)
    changes[0, : len(CHANGES)] = [row[place] for row, place in zip(CHANGES, truths, strict=True)]
    changes[1, :_BESIDE] = DRAW_COUNT
    c0, c2 = (Outcomes(np.maximum(-each, 0), np.maximum(each, 0), DRAW_COUNT) for each in changes)
    exact = difference_in_differences(c0, c2, method="exact")
    simulated = difference_in_differences(c0, c2, n_resamples=RESAMPLE_COUNT, seed=BOOTSTRAP_SEED)
    return tuple(step for each, error in _intervals(exact, simulated) for step in _steps(each, error / family_count))


def _intervals(exact: DidResult, simulated: DidResult) -> Iterator[tuple[Interval, int]]:
    """Yield each interval with how many families its estimate may be off by."""
    yield exact.effect, 2
    yield simulated.effect, 2
    yield simulated.c0_drift, 1


def _steps(interval: Interval, error_max: float) -> tuple[int, int]:
    below, above = interval.estimate - interval.low, interval.high - interval.estimate
    low, high = round_ends(0.0, below=below, above=above, error_max=error_max)
    return _step(-low), _step(high)


def _step(distance: float) -> int:
    return int(np.abs(_GRID - distance).argmin())


def _probes(few: Sequence[int], family_count: int, generator: np.random.Generator) -> tuple[Probe, Probe]:
    base = np.zeros((family_count, 4), dtype=np.int64)
    base[np.arange(family_count), generator.integers(4, size=family_count)] = DRAW_COUNT
    adapted = base.copy()
    changes = np.array(CHANGES)
    base[few], adapted[few] = np.maximum(-changes, 0), np.maximum(changes, 0)
    return base, adapted


def _beside(known: Mapping[str, int]) -> dict[ModelState, dict[str, Sequence[int]]]:
    chosen = sorted(known)[:_BESIDE]
    return {
        ModelState.ADAPTED: {
            family_id: [DRAW_COUNT * (place == known[family_id]) for place in range(4)] for family_id in chosen
        }
    }

"""Time the family-block bootstrap of a paper-sized experiment against scipy and against a plain loop.

    python bench/did.py

Four cells of 512 + 512 families with 32 draws in each state, 10,000 resamples. All three draw the same number of
families; scipy and the loop are timed in the same run, on the same data.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from leakscale.stats import DidResult, Outcomes, difference_in_differences

CELLS, FAMILIES, DRAWS, RESAMPLES = 4, 512, 32, 10_000
LOOP_RESAMPLES = 200
"""The plain loop is timed on this many resamples and scaled."""


def paper_sized_cell(seed: int) -> tuple[Outcomes, Outcomes]:
    """Simulate one model and domain: families of unequal difficulty, C0 drifting down and C2 rising."""
    rng = np.random.Generator(np.random.PCG64(seed))
    arms = []
    for lift in (-0.02, 0.12):
        difficulty = rng.beta(0.4, 1.2, FAMILIES)
        adapted = np.clip(difficulty + lift, 0, 1)
        arms.append(Outcomes(rng.binomial(DRAWS, difficulty), rng.binomial(DRAWS, adapted), DRAWS))
    return arms[0], arms[1]


def by_scipy(c0: Outcomes, c2: Outcomes) -> tuple[float, float]:
    """Bound the effect with scipy's vectorized bootstrap, batched to the memory that ours uses."""

    def effect(change2: NDArray[np.float64], change0: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
        return np.asarray(np.mean(change2, axis=axis) - np.mean(change0, axis=axis))

    samples = (c2.changes / DRAWS, c0.changes / DRAWS)
    result = stats.bootstrap(
        samples, effect, n_resamples=RESAMPLES, batch=512, method="percentile", rng=np.random.default_rng(1)
    )
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


def by_loop(c0: Outcomes, c2: Outcomes) -> list[float]:
    """Resample family by family, as the definition reads."""
    rng = np.random.Generator(np.random.PCG64(1))
    arms = [(one.base.tolist(), one.adapted.tolist()) for one in (c0, c2)]
    effects = []
    for _ in range(LOOP_RESAMPLES):
        changes = []
        for base, adapted in arms:
            picks = rng.integers(0, FAMILIES, FAMILIES).tolist()
            changes.append(sum(adapted[i] - base[i] for i in picks) / (FAMILIES * DRAWS))
        effects.append(changes[1] - changes[0])
    return effects


def seconds(work: Callable[[Outcomes, Outcomes], object], cells: list[tuple[Outcomes, Outcomes]]) -> float:
    """Time `work` over all cells: best of three."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        for c0, c2 in cells:
            work(c0, c2)
        times.append(time.perf_counter() - start)
    return min(times)


def percentile(c0: Outcomes, c2: Outcomes, seed: int = 1) -> DidResult:
    return difference_in_differences(c0, c2, n_resamples=RESAMPLES, seed=seed)


def exact(c0: Outcomes, c2: Outcomes) -> DidResult:
    return difference_in_differences(c0, c2, method="exact")


def peak_mib(cells: list[tuple[Outcomes, Outcomes]]) -> float:
    """Return the peak of the memory that the percentile method allocates."""
    tracemalloc.start()
    for c0, c2 in cells:
        percentile(c0, c2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def endpoint_gap(c0: Outcomes, c2: Outcomes) -> float:
    """Return how far, in points, the exact bounds lie from the mean of twenty seeded runs."""
    runs = [percentile(c0, c2, seed).effect for seed in range(20)]
    one = exact(c0, c2).effect
    gaps = (one.low - np.mean([run.low for run in runs]), one.high - np.mean([run.high for run in runs]))
    return 100 * max(abs(float(gap)) for gap in gaps)


def main() -> None:
    cells = [paper_sized_cell(seed) for seed in range(CELLS)]
    ours = seconds(percentile, cells)
    limit = seconds(exact, cells)
    scipys = seconds(by_scipy, cells)
    loop = seconds(by_loop, cells) * RESAMPLES / LOOP_RESAMPLES
    print(f"{CELLS} cells of {FAMILIES} + {FAMILIES} families, {DRAWS} draws, {RESAMPLES:,} resamples")
    print(f"  leakscale percentile  {ours:8.3f} s   peak {peak_mib(cells):.1f} MiB")
    print(f"  leakscale exact       {limit:8.3f} s   {limit / CELLS * 1000:.1f} ms a cell")
    print(f"  scipy.stats.bootstrap {scipys:8.3f} s   ratio {scipys / ours:.1f} x")
    print(f"  plain loop (scaled)   {loop:8.3f} s   ratio {loop / ours:.0f} x")
    print(f"  exact bounds against the mean of 20 seeded runs: {endpoint_gap(*cells[0]):.3f} points apart")


if __name__ == "__main__":
    main()

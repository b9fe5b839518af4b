"""Measure every bar of the statistics, each against scipy or a plain loop in the same run.

    python bench/stats.py

Widths, coverages, detection rates and agreements are asserted: a missed one ends the script with code 1. Times are
printed with their bar and a ratio, because a busy machine is no fault of the code.
"""

from __future__ import annotations

import math
import sys
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from did import CELLS, DRAWS, FAMILIES, RESAMPLES, exact, paper_sized_cell, percentile
from leakscale.lab.populations import EXTENDED_SHAPES, frame, nonzero_share
from leakscale.stats import (
    FinitePopulationDesign,
    Gaps,
    Outcomes,
    detection_rate,
    exact_coverage,
    leave_one_group_out,
    mean_bounds,
    randomization_test,
)
from leakscale.stats.planning.detection import planted_samples

SPARSE: dict[float, int] = {-1: 20, 0: 900, 1: 80}
PUBLISHED = {50: 0.912660, 200: 0.946731, 500: 0.949858}
FRAME = FinitePopulationDesign(1319)
DRAWN = 4_000
missed: list[str] = []


def report(name: str, measured: str, bar: str, *, holds: bool, is_time: bool = False, ratio: str = "") -> None:
    """Print a line of the table; remember a bar that is missed, unless it is a time."""
    verdict = "ok" if holds else "slow here" if is_time else "MISSED"
    if not holds and not is_time:
        missed.append(name)
    print(f"{name:<44} {measured:>24}   bar {bar:<22} {verdict:<9} {ratio}", flush=True)


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Return the processor time of the best of several runs."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def loop_coverage(counts: dict[float, int], n: int) -> float:
    """Enumerate the samples of a three-valued population in plain Python."""
    down, zero, up = counts[-1], counts[0], counts[1]
    size, mean = down + zero + up, (up - down) / (down + zero + up)
    total, covered = math.comb(size, n), 0.0
    for a, c in product(range(min(down, n) + 1), range(min(up, n) + 1)):
        b = n - a - c
        if not 0 <= b <= zero:
            continue
        estimate = (c - a) / n
        variance = (a + c - n * estimate**2) / (n - 1)
        half_width = 1.959963984540054 * math.sqrt(max(0.0, (1 - n / size) * variance / n))
        if abs(estimate - mean) <= half_width + 1e-12:
            covered += math.comb(down, a) * math.comb(zero, b) * math.comb(up, c) / total
    return covered


def exact_coverages() -> None:
    for n, published in PUBLISHED.items():
        found = exact_coverage(SPARSE, n, method="wald_fpc")
        ours = seconds(partial(exact_coverage, SPARSE, n, method="wald_fpc"))
        loop = seconds(partial(loop_coverage, SPARSE, n), 1)
        holds = abs(found - published) <= 1e-6 and abs(found - loop_coverage(SPARSE, n)) < 1e-9
        report(
            f"exact Wald coverage, sparse, n = {n}",
            f"{found:.6f} in {1000 * ours:.1f} ms",
            f"{published:.6f} to 1e-6",
            holds=holds,
            ratio=f"plain loop {loop / ours:.1f} x",
        )


def samples_of(shape: tuple[float, ...], n: int, seed: int) -> tuple[NDArray[np.int64], float]:
    population = Gaps.of(frame(shape, 1319), denominator=2)
    rng = np.random.Generator(np.random.PCG64(seed))
    return planted_samples(population, FRAME, n=n, advantage=0.0, replicates=DRAWN, rng=rng), population.mean


def loop_betting(draws: list[float], size: int) -> float:
    """Bound the mean from below as the definition reads, with the plain bets of the source, by bisection."""
    n, threshold = len(draws), 2 / 0.05

    def is_rich(mean: float) -> bool:
        wealth, taken, squares, running = 1.0, 0.0, 1.0, 0.0
        for t, draw in enumerate(draws):
            price = (size * mean - taken) / (size - t)
            bet = min(math.sqrt(2 * math.log(threshold) / (n * squares / (t + 1))), 0.75 / max(1 + price, 1e-300))
            wealth *= 1 + bet * (draw - price)
            if wealth >= threshold:
                return True
            taken += draw
            running = taken / (t + 2)
            squares += (draw - running) ** 2
        return False

    low, high = -1.0, 1.0
    for _ in range(31):
        middle = (low + high) / 2
        low, high = (middle, high) if is_rich(middle) else (low, middle)
    return low


def betting() -> None:
    samples, mean = samples_of(EXTENDED_SHAPES["sparse"], 100, 1)
    found = mean_bounds(samples, 2, FRAME, method="betting")
    ours = seconds(lambda: mean_bounds(samples, 2, FRAME, method="betting"), 1) / DRAWN
    loop = 2 * seconds(lambda: loop_betting((samples[0] / 2).tolist(), 1319), 3)
    half_width = float(((found.high - found.low) / 2).mean())
    coverage = float(((found.low <= mean) & (mean <= found.high)).mean())
    report(
        "betting, sparse, n = 100: half-width",
        f"{half_width:.4f}",
        "<= .083",
        holds=half_width <= 0.083,
        ratio=f"Hoeffding {0.271620 / half_width:.1f} x wider; plain loop {loop / ours:.0f} x",
    )
    report("betting, sparse, n = 100: coverage", f"{coverage:.4f}", ">= .965", holds=coverage >= 0.965)
    least = 1.0
    for seed, (shape, n) in enumerate(product(EXTENDED_SHAPES, (50, 100, 200, 400))):
        samples, mean = samples_of(EXTENDED_SHAPES[shape], n, 100 + seed)
        found = mean_bounds(samples, 2, FRAME, method="betting")
        least = min(least, float(((found.low <= mean) & (mean <= found.high)).mean()))
    report("betting, eight shapes x four sizes", f"least {least:.4f}", ">= .96", holds=least >= 0.96)


def power() -> None:
    for share, bar in ((0.24, 0.42), (0.15, 0.55), (0.08, 0.67)):
        pilot = Gaps.of(frame(nonzero_share(share), 1319), denominator=2)
        rates = [
            detection_rate(pilot, FRAME, n=100, advantage=0.10, bound=bound, replicates=20_000, seed=1).rate
            for bound in ("betting", "hoeffding")
        ]
        report(
            f"10 planted points, n = 100, {100 * share:g} % nonzero",
            f"{rates[0]:.3f}",
            f">= {bar}",
            holds=rates[0] >= bar and rates[1] < 0.001,
            ratio=f"registered Hoeffding {rates[1]:.3f}",
        )


def loop_p_value(correct: NDArray[np.int64], draws: int) -> float:
    """Relabel at random, two-sided, with numpy doing the work of each draw."""
    rng = np.random.Generator(np.random.PCG64(1))
    parents, forms = correct.shape
    rows, totals = np.arange(parents), correct.sum(axis=1)
    observed = abs(int((forms * correct[:, 0] - totals).sum()))
    hits = 0
    for _ in range(draws):
        original = correct[rows, rng.integers(0, forms, parents)]
        hits += abs(int((forms * original - totals).sum())) >= observed
    return (hits + 1) / (draws + 1)


def mean_gap(original: NDArray[np.int64], *fresh: NDArray[np.int64], axis: int = -1) -> NDArray[np.float64]:
    return np.asarray(np.mean(original - sum(fresh) / len(fresh), axis=axis))


def relabelling() -> None:
    rng = np.random.Generator(np.random.PCG64(3))
    correct = (rng.random((200, 3)) < 0.7).astype(np.int64)
    exact_p = randomization_test(correct).p_value
    ours = seconds(lambda: randomization_test(correct), 20)
    loop = seconds(lambda: loop_p_value(correct, 10_000), 1)
    by_scipy = seconds(
        lambda: stats.permutation_test(
            tuple(correct.T),
            mean_gap,
            permutation_type="samples",
            vectorized=True,
            n_resamples=9_999,
            batch=500,
            rng=rng,
        ),
        1,
    )
    report(
        "relabelling test, n = 200, exact",
        f"{1000 * ours:.3f} ms",
        "<= 2 ms",
        holds=ours <= 0.002,
        is_time=True,
        ratio=f"scipy permutation_test {by_scipy / ours:.0f} x",
    )
    report(
        "against 10,000 Monte-Carlo draws",
        f"{loop / ours:.0f} x faster",
        ">= 50 x",
        holds=loop / ours >= 50,
        is_time=True,
        ratio=f"p exact {exact_p:.4f}, simulated {loop_p_value(correct, 2_000):.4f}",
    )
    worst = max(brute_force_gap((rng.random((n, 3)) < 0.6).astype(np.int64)) for n in range(1, 9) for _ in range(5))
    report("brute force, every relabelling, n <= 8", f"differs by {worst:.1e}", "<= 1e-12", holds=worst <= 1e-12)


def brute_force_gap(correct: NDArray[np.int64]) -> float:
    """Return how far the exact p-value is from the one that lists every relabelling."""
    totals, forms = correct.sum(axis=1), correct.shape[1]
    observed = abs(int((forms * correct[:, 0] - totals).sum()))
    values = [
        abs(
            sum(forms * int(row[label]) - int(total) for row, label, total in zip(correct, labels, totals, strict=True))
        )
        for labels in product(range(forms), repeat=len(correct))
    ]
    share = sum(value >= observed for value in values) / len(values)
    return float(abs(share - randomization_test(correct).p_value))


def plain_loop(c0: Outcomes, c2: Outcomes) -> NDArray[np.float64]:
    """Resample replicate by replicate under the registered seed: all of C0, then all of C2."""
    rng = np.random.Generator(np.random.PCG64(1))
    means = []
    for one in (c0, c2):
        changes = np.sort(one.changes)
        totals = [int(changes[rng.integers(0, changes.size, changes.size)].sum()) for _ in range(RESAMPLES)]
        means.append(np.array(totals) / (one.family_count * one.draws))
    return np.asarray(means[1] - means[0])


def by_scipy(c0: Outcomes, c2: Outcomes) -> None:
    def effect(change2: NDArray[np.float64], change0: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
        return np.asarray(np.mean(change2, axis=axis) - np.mean(change0, axis=axis))

    arms = (c2.changes / DRAWS, c0.changes / DRAWS)
    stats.bootstrap(arms, effect, n_resamples=RESAMPLES, batch=512, method="percentile", rng=np.random.default_rng(1))


def exposure() -> None:
    cells = [paper_sized_cell(seed) for seed in range(CELLS)]
    c0, c2 = cells[0]
    limit = seconds(lambda: exact(c0, c2))
    runs = [percentile(c0, c2, seed).effect for seed in range(20)]
    one = exact(c0, c2).effect
    gap = 100 * max(
        abs(one.low - float(np.mean([run.low for run in runs]))),
        abs(one.high - float(np.mean([run.high for run in runs]))),
    )
    scipys = seconds(lambda: by_scipy(c0, c2), 1)
    report(
        f"exact exposure effect, {FAMILIES} + {FAMILIES} families",
        f"{limit:.4f} s",
        "<= .15 s",
        holds=limit <= 0.15,
        is_time=True,
        ratio=f"scipy bootstrap {scipys / limit:.0f} x",
    )
    report("exact ends, mean of 20 seeded runs", f"{gap:.4f} points apart", "<= .02 points", holds=gap <= 0.02)
    four = seconds(lambda: [percentile(*cell) for cell in cells])
    tracemalloc.start()
    for cell in cells:
        percentile(*cell)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    loop = seconds(lambda: plain_loop(c0, c2), 1) * CELLS
    report(
        "registered bootstrap, four cells",
        f"{four:.3f} s, {peak:.0f} MB",
        "<= .5 s, <= 200 MB",
        holds=four <= 0.5 and peak <= 200,
        is_time=peak <= 200,
        ratio=f"plain loop {loop / four:.1f} x, scipy {scipys * CELLS / four:.1f} x",
    )
    expected = np.quantile(plain_loop(c0, c2), (0.025, 0.975))
    worst = float(np.abs(np.array([runs[1].low, runs[1].high]) - expected).max())
    report("the same, replicate by replicate", f"differs by {worst:.1e}", "<= 1e-12", holds=worst <= 1e-12)


def leave_one_shape_out() -> None:
    shapes, worst, count = np.repeat(np.arange(32), FAMILIES // 32), 0.0, 0
    for seed in range(CELLS):
        c0, c2 = paper_sized_cell(seed)
        found = leave_one_group_out(c0, c2, (shapes, shapes))
        whole = float(np.mean(c2.changes) - np.mean(c0.changes)) / DRAWS
        for shape in range(32):
            chosen = shapes == shape
            own = float(np.mean(c2.changes[chosen]) - np.mean(c0.changes[chosen])) / DRAWS
            worst = max(worst, abs(float(found.without[str(shape)]) - (32 * whole - own) / 31))
            count += 1
    report(f"{count} leave-one-shape-out effects", f"differ by {worst:.1e}", "<= 1e-12", holds=worst <= 1e-12)


def main() -> int:
    """Run every bar; 1 if one that is not a time is missed."""
    for part in (exact_coverages, betting, power, relabelling, exposure, leave_one_shape_out):
        part()
    if missed:
        print(f"missed: {', '.join(missed)}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())

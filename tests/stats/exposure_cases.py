"""Outcomes for the tests of the exposure estimators."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from leakscale.stats import Interval, Outcomes

__all__ = ["SIMULATED", "an_outcomes", "bounds", "labels_in_turn", "one_draw"]

SIMULATED = ["percentile", "bca", "studentized"]
"""The methods that draw resamples."""


def an_outcomes(
    *, families: int = 40, draws: int = 32, lift: float = 0.0, seed: int = 0, ids: Sequence[str] | None = None
) -> Outcomes:
    """Build families of unequal difficulty whose adapted accuracy lies about `lift` above the base one."""
    rng = np.random.Generator(np.random.PCG64(seed))
    difficulty = rng.beta(0.6, 1.8, families)
    adapted = np.clip(difficulty + lift + rng.normal(0, 0.1, families), 0, 1)
    return Outcomes(rng.binomial(draws, difficulty), rng.binomial(draws, adapted), draws, ids)


def one_draw(changes: Sequence[int]) -> Outcomes:
    """Build families with one draw a state that change by -1, 0 or 1."""
    return Outcomes([int(change < 0) for change in changes], [int(change > 0) for change in changes], 1)


def labels_in_turn(c0: Outcomes, c2: Outcomes, groups: int) -> tuple[list[str], list[str]]:
    """Deal the families of each condition to `groups` groups in turn."""
    dealt = [[f"g{i % groups:02d}" for i in range(one.family_count)] for one in (c0, c2)]
    return dealt[0], dealt[1]


def bounds(interval: Interval) -> tuple[float, float, float]:
    """Return what an interval says, from its lower end to its upper one."""
    return interval.low, interval.estimate, interval.high

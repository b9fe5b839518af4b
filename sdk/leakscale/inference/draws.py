"""From a probability and a seed to a choice: inverse of the cumulative distribution, nothing else.

A draw's uniforms are SHA-256 over its seed and a counter. So no generator has a state that could depend on what was
drawn before, in which batch, or by which process.

Source: LeakScale F.2.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from leakscale.seeds import uniform

__all__ = ["counter_uniform", "inverse_cdf"]


def counter_uniform(seed: bytes, counter: int) -> float:
    """Return uniform number `counter` of a draw, in [0, 1) with 53 random bits."""
    return uniform(hashlib.sha256(seed + counter.to_bytes(8, "big")).digest())


def inverse_cdf(probabilities: Sequence[float], point: float) -> int:
    """Return the index at which the cumulative sum passes `point`; the last one if rounding ends the sum below it."""
    cumulative = 0.0
    for index, probability in enumerate(probabilities):
        cumulative += probability
        if point < cumulative:
            return index
    return len(probabilities) - 1

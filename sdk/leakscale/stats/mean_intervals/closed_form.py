"""Half-widths that follow from sample size, population size and variance by a formula.

Each takes the sample size n, the population size N (None: superpopulation), the sample variance s² with n - 1 below
the line (an array, one entry a sample) and alpha, and returns half-widths of the same shape. Gaps lie in [-1, 1], so
the range in every bound is 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

__all__ = ["HALF_WIDTHS", "NEEDS_VARIANCE", "HalfWidth", "hoeffding", "normal_quantile", "standard_error"]

Floats = NDArray[np.float64]
HalfWidth = Callable[[int, int | None, Floats, float], Floats]


def hoeffding(n: int, population_size: int | None, variance: Floats, alpha: float) -> Floats:
    """Return sqrt(2 log(2/alpha) / n), whatever the data and the population size.

    Valid without replacement, because the sum is then no less concentrated (Hoeffding 1963, Theorem 4). It has no
    finite-population form: at n = N it does not vanish.

    Source: CleanScore Proposition 1; METHODS 1.1.
    """
    return np.full(np.shape(variance), math.sqrt(2 * math.log(2 / alpha) / n))


def hoeffding_serfling(n: int, population_size: int | None, variance: Floats, alpha: float) -> Floats:
    """Return Hoeffding's half-width times sqrt(rho), rho the unsampled share up to a term in 1/n.

    Source: Serfling 1974; Bardenet and Maillard 2015, Corollary 2.5; METHODS 13.
    """
    return hoeffding(n, population_size, variance, alpha) * math.sqrt(_unsampled(n, population_size))


def wald_fpc(n: int, population_size: int | None, variance: Floats, alpha: float) -> Floats:
    """Return z sqrt((1 - n/N) s² / n), with the normal quantile z.

    An approximation: it covers too rarely in small and sparse samples.

    Source: CleanScore 3.1; METHODS 1.3.
    """
    return normal_quantile(alpha) * standard_error(n, population_size, variance)


def empirical_bernstein(n: int, population_size: int | None, variance: Floats, alpha: float) -> Floats:
    """Return sqrt(2 s² log(4/alpha) / n) + 14 log(4/alpha) / (3 (n - 1)).

    Proven for draws with replacement. Without replacement it is conservative in every setting simulated, but the
    paper's transfer does not prove it: the sample variance is no convex function of the sum. `betting` is proven and
    narrower. The paper's 7.9 quotes numbers with log(2/alpha), which contradict its own formula; this is log(4/alpha).

    Source: Maurer and Pontil 2009, Theorem 4, both tails; CleanScore Proposition 5; METHODS 1.4.
    """
    log_term = math.log(4 / alpha)
    return np.sqrt(2 * log_term * variance / n) + 14 * log_term / (3 * (n - 1))


def empirical_bernstein_serfling(n: int, population_size: int | None, variance: Floats, alpha: float) -> Floats:
    """Return s_n sqrt(2 rho L / n) + 2 (7/3 + 3/sqrt 2) L / n, with L = log(10/alpha) and s_n² with n below the line.

    The proven form of empirical Bernstein without replacement, and a wide one.

    Source: Bardenet and Maillard 2015, Theorem 4.3, each tail with failure probability alpha/2 = 5 delta; METHODS 1.4.
    """
    log_term = math.log(10 / alpha)
    biased = variance * ((n - 1) / n)
    spread = np.sqrt(2 * log_term * _unsampled(n, population_size) * biased / n)
    return spread + 2 * (7 / 3 + 3 / math.sqrt(2)) * log_term / n


def standard_error(n: int, population_size: int | None, variance: Floats) -> Floats:
    """Return sqrt((1 - n/N) s² / n), the finite-population standard error of the mean."""
    unsampled = 1.0 if population_size is None else (population_size - n) / population_size
    return np.asarray(np.sqrt(unsampled * variance / n))


def normal_quantile(alpha: float) -> float:
    """Return z with probability alpha/2 above it."""
    return -float(ndtri(alpha / 2))


def _unsampled(n: int, population_size: int | None) -> float:
    """Return Bardenet and Maillard's rho: the share of the population still unsampled, up to a term in 1/n."""
    if population_size is None:
        return 1.0
    forward = (population_size - n + 1) / population_size
    backward = (population_size - n) / population_size * (1 + 1 / n)
    return min(forward, backward)


HALF_WIDTHS: Mapping[str, HalfWidth] = {
    "hoeffding": hoeffding,
    "hoeffding_serfling": hoeffding_serfling,
    "wald_fpc": wald_fpc,
    "empirical_bernstein": empirical_bernstein,
    "empirical_bernstein_serfling": empirical_bernstein_serfling,
}
"""Half-width of each method that has a formula."""

NEEDS_VARIANCE = frozenset({"wald_fpc", "empirical_bernstein", "empirical_bernstein_serfling"})
"""Methods that say nothing about a single observation."""

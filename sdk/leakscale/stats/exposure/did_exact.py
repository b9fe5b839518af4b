"""Bounds of the exposure effect in the limit of infinitely many resamples, without a seed.

Source: METHODS 13.5. The percentile bootstrap of whole numbers has a distribution that a convolution power gives
exactly, so the simulation noise of a seeded run (about 0.09 points in an end of 10,000 resamples) is gone.
"""

from __future__ import annotations

import math

from leakscale.stats.errors import UnsupportedMethodError
from leakscale.stats.exposure.did_simulated import Bounds
from leakscale.stats.exposure.quantiles import difference_bounds, sum_bounds
from leakscale.stats.exposure.resampling_units import Quantity, ResamplingUnits
from leakscale.stats.resampling import SumDistribution, sum_distribution

__all__ = ["exact"]


def exact(units: ResamplingUnits, quantity: Quantity, alpha: float) -> Bounds:
    """Bound the quantity by the central quantiles of its exact bootstrap distribution.

    Raises:
        UnsupportedMethodError: If clusters differ in size, because the effect is then a ratio of two random totals.
        EnumerationError: If the totals can take too many values.
    """
    if not units.has_fixed_sizes:
        raise UnsupportedMethodError(
            "the exact method needs clusters of one size (within each stratum); use method='percentile' for these"
        )
    error = math.sqrt(sum(float(part @ part) for part in units.deviations(quantity)))
    if quantity is Quantity.EFFECT and not units.is_joint:
        w0, w2, m = units.weights(quantity)
        low, high = difference_bounds(
            _total(units, Quantity.C2_CHANGE), _total(units, Quantity.C0_DRIFT), w2, -w0, alpha
        )
    else:
        low, high = sum_bounds(_total(units, quantity), alpha)
        m = units.weights(quantity)[2]
    return Bounds(low / m, high / m, error)


def _total(units: ResamplingUnits, quantity: Quantity) -> SumDistribution:
    parts, _ = units.contributions(quantity)
    return sum_distribution(*(part for part in parts if part.any()))

"""How finely a gate can see, and how many parents it needs, before its data exist.

Source: METHODS 13.10.
"""

from __future__ import annotations

import math
from typing import Final

from scipy import special

from leakscale.stats import parameters
from leakscale.stats.errors import ParameterError, UnderpoweredGateError

__all__ = ["check_tolerance", "gate_advice", "gate_resolution", "gate_size", "register_gate"]

_RATIO_MAX: Final = 1e6
"""Half-width of one parent over the tolerance: beyond, a gate takes more than 10^12 parents."""


def gate_resolution(parents: int, standard_deviation: float, *, alpha: float = 0.05) -> float:
    """Return the half-width z * sd / sqrt(n) of a gate before its data exist.

    Args:
        parents: Parents with both forms, n.
        standard_deviation: Of the difference of a parent's two changes, in [0, 2]; e.g. from a pilot.
        alpha: One less the level, in (0, 1).

    Raises:
        ParameterError: If an argument is out of its range.
    """
    parents, alpha = parameters.count(parents, "parents", 1), parameters.level(alpha)
    deviation = parameters.number(standard_deviation, "standard_deviation", 0, 2)
    return -float(special.ndtri(alpha / 2)) * deviation / math.sqrt(parents)


def gate_size(standard_deviation: float, *, tolerance: float, alpha: float = 0.05) -> int:
    """Return the least number of parents whose half-width does not exceed the tolerance.

    Raises:
        ParameterError: If an argument is out of its range.
    """
    tolerance = check_tolerance(tolerance)
    ratio = gate_resolution(1, standard_deviation, alpha=alpha) / tolerance
    if ratio > _RATIO_MAX:
        raise ParameterError(f"tolerance is {tolerance:g}; no bank has the parents that it takes, so widen it")
    parents = max(1, math.ceil(ratio**2))
    return parents if gate_resolution(parents, standard_deviation, alpha=alpha) <= tolerance else parents + 1


def register_gate(parents: int, standard_deviation: float, *, tolerance: float = 0.05, alpha: float = 0.05) -> float:
    """Return the resolution of a planned gate, or refuse to register it.

    Raises:
        ParameterError: If an argument is out of its range.
        UnderpoweredGateError: If the half-width exceeds the tolerance.
    """
    tolerance = check_tolerance(tolerance)
    resolution = gate_resolution(parents, standard_deviation, alpha=alpha)
    if resolution > tolerance:
        needed = gate_size(standard_deviation, tolerance=tolerance, alpha=alpha)
        raise UnderpoweredGateError(
            f"a gate of {parents} parents has half-width {resolution:.3f} and tolerance {tolerance:g}; "
            f"{gate_advice(needed)}"
        )
    return resolution


def gate_advice(needed: int | None) -> str:
    """Say what to do about a gate that cannot see its tolerance."""
    if needed is None:
        return "the parents show no spread to plan with; measure more of them"
    return f"take about {needed} parents, widen the tolerance, or measure instead of assuming"


def check_tolerance(tolerance: float) -> float:
    """Return the tolerance; raise ParameterError unless it is a finite number above zero."""
    return parameters.tolerance(tolerance, "tolerance")

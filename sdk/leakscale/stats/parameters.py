"""What a caller may pass: numbers, counts, levels and seeds, taken once at each public door.

Every converter returns a plain Python value, so that results hold nothing that JSON cannot write. Numpy scalars are as
welcome as Python's numbers; a bool is not a number here, and NaN and infinity are never parameters. The converters of
arrays stand beside these in `arrays` and are offered here too, so that a door has one place to turn to.
"""

from __future__ import annotations

import math
import numbers
from typing import Any, Final, TypeAlias

import numpy as np

from leakscale.stats.arrays import floats, names, unboxed, whole_numbers
from leakscale.stats.errors import ParameterError, SeedRequiredError, StatisticsError

__all__ = [
    "COUNT_MAX",
    "LEVEL_MIN",
    "Seed",
    "count",
    "floats",
    "level",
    "names",
    "number",
    "radius",
    "seeded",
    "share",
    "tolerance",
    "whole_numbers",
]

Seed: TypeAlias = int | np.integer[Any] | np.random.Generator
"""A whole number from 0, or a generator that the call advances."""

COUNT_MAX: Final = 2**53
"""Largest count: beyond it, a double no longer tells one whole number from the next."""

LEVEL_MIN: Final = 1e-15
"""Smallest level: below it, 1 - alpha is 1 within the rounding of a double and no quantile means anything."""


def count(
    value: object,
    name: str,
    minimum: int = 0,
    maximum: int = COUNT_MAX,
    *,
    error: type[StatisticsError] = ParameterError,
) -> int:
    """Return a whole number as an int.

    Args:
        value: An int or a numpy integer; not a bool, and no float, not even a whole one.
        name: Subject of the message, e.g. `n_resamples`.
        error: What to raise; `ParameterError` unless the value belongs to a design.

    Raises:
        StatisticsError: `error`, if the value is no whole number in minimum..maximum.
    """
    plain = unboxed(value)
    if isinstance(plain, bool) or not isinstance(plain, numbers.Integral):
        raise error(f"{name} is {value!r}; pass a whole number, {minimum} or more")
    whole = int(plain)
    if not minimum <= whole <= maximum:
        limit = f"{minimum} or more" if whole < minimum else f"at most {maximum:,}"
        raise error(f"{name} is {whole}; pass a whole number, {limit}")
    return whole


def number(
    value: object,
    name: str,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    error: type[StatisticsError] = ParameterError,
) -> float:
    """Return a finite real number in [low, high] as a float.

    Raises:
        StatisticsError: `error`, if the value is no real number, is NaN or infinite, or lies outside.
    """
    found = _real(value)
    if found is None:
        raise error(f"{name} is {value!r}; pass a finite number{_between(low, high)}")
    if not low <= found <= high:
        raise error(f"{name} is {found:g}; pass a number{_between(low, high)}")
    return found


def share(value: object, name: str, low: float = 0.0, high: float = 1.0) -> float:
    """Return a share of 1, ends included.

    Raises:
        ParameterError: If it is no number in [low, high].
    """
    return number(value, name, low, high)


def radius(value: object, name: str, low: float = 0.0, high: float = math.inf) -> float:
    """Return a distance: a finite number from 0.

    Raises:
        ParameterError: If it is no number in [low, high].
    """
    return number(value, name, low, high)


def tolerance(value: object, name: str, low: float = 0.0, high: float = math.inf) -> float:
    """Return a distance that must not vanish: a finite number *above* `low`.

    Raises:
        ParameterError: If it is no number in (low, high].
    """
    found = _real(value)
    if found is None or not low < found <= high:
        upper = "" if math.isinf(high) else f" and at most {high:g}"
        raise ParameterError(f"{name} is {value!r}; pass a finite number above {low:g}{upper}")
    return found


def level(value: object, name: str = "alpha") -> float:
    """Return a probability strictly between 0 and 1, e.g. the level of a test.

    Raises:
        ParameterError: If it is none, or below `LEVEL_MIN`.
    """
    found = _real(value)
    if found is None or not 0 < found < 1:
        raise ParameterError(f"{name} is {value!r}; it lies between 0 and 1, e.g. 0.05")
    if found < LEVEL_MIN:
        raise ParameterError(f"{name} is {found:g}, finer than doubles can tell; pass {LEVEL_MIN:g} or more")
    return found


def seeded(seed: object) -> tuple[np.random.Generator, int | None]:
    """Return the generator that a seed stands for, and the seed as an int for the record.

    A generator is returned as it is, later draws advance it, and there is no seed to record: None.

    Raises:
        ParameterError: If the seed is no whole number from 0 and no `numpy.random.Generator`.
        SeedRequiredError: If it is None.
    """
    if isinstance(seed, np.random.Generator):
        return seed, None
    if seed is None:
        raise SeedRequiredError("a simulated result needs a seed; pass a whole number, e.g. the registered one")
    plain = unboxed(seed)
    if isinstance(plain, bool) or not isinstance(plain, numbers.Integral) or plain < 0:
        raise ParameterError(f"seed is {seed!r}; pass a whole number from 0, or a numpy.random.Generator")
    recorded = int(plain)
    return np.random.Generator(np.random.PCG64(recorded)), recorded


def _real(value: object) -> float | None:
    """Return the value as a finite float, or None if it is none."""
    plain = unboxed(value)
    if isinstance(plain, bool) or not isinstance(plain, numbers.Real):
        return None
    try:
        found = float(plain)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def _between(low: float, high: float) -> str:
    if math.isinf(low) and math.isinf(high):
        return ""
    if math.isinf(high):
        return f", {low:g} or more"
    return f" up to {high:g}" if math.isinf(low) else f" in {low:g}..{high:g}"

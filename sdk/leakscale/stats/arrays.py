"""Arrays that a caller may pass, turned into fresh arrays of one known dtype.

No arithmetic runs in the caller's narrow dtype, no mask is lost, and what is no array of numbers is refused by name.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leakscale.stats.errors import ParameterError, StatisticsError

__all__ = ["floats", "names", "unboxed", "whole_numbers"]


def unboxed(value: object) -> object:
    """Return the Python value of a numpy scalar; anything else as it is."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return value.item()
    return value


def floats(values: object, name: str, *, error: type[StatisticsError] = ParameterError) -> NDArray[np.float64]:
    """Return real numbers as a fresh float64 array of the same shape.

    A masked entry becomes NaN, because a mask says that there is no number; None in a list does as well. Whether NaN
    and infinity are allowed is for the caller to say.

    Raises:
        StatisticsError: `error`, if the values are text, complex, ragged, or no numbers.
    """
    array = _array(values, name, error)
    masked = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
    found = _as_floats(np.ma.getdata(array), name, error)
    if masked is not None:
        found[masked] = np.nan
    return found


def whole_numbers(values: object, name: str, *, error: type[StatisticsError] = ParameterError) -> NDArray[np.int64]:
    """Return whole numbers as a fresh int64 array of the same shape; bools count as 0 and 1.

    Raises:
        StatisticsError: `error`, if a value is masked, is no whole number (a float is none), or needs over 64 bits.
    """
    array = _array(values, name, error)
    if isinstance(array, np.ma.MaskedArray):
        if np.ma.getmaskarray(array).any():
            raise error(f"{name} holds a masked value; there is no whole number for it, so leave its row out")
        array = np.ma.getdata(array)
    if array.size == 0:
        return np.zeros(array.shape, np.int64)
    if array.dtype.kind == "O" and all(isinstance(value, (numbers.Integral, np.bool_)) for value in array.flat):
        array = _wide(array, name, error)
    if array.dtype.kind not in "biu":
        raise error(f"{name} has dtype {array.dtype}; pass whole numbers")
    if array.dtype.kind == "u" and int(array.max()) > np.iinfo(np.int64).max:
        raise error(f"{name} holds a number beyond 64 bits; check the counts")
    return np.array(array, np.int64)


def names(values: object, name: str, *, error: type[StatisticsError] = ParameterError) -> tuple[str, ...]:
    """Return labels as plain strings; whole numbers may name things too and are written as text.

    Raises:
        StatisticsError: `error`, if this is one string, which would be read as a label a letter, or a label is
            neither text nor a whole number.
    """
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise error(f"{name} is {values!r}; pass a list of labels, one each")
    found = []
    for value in values:
        plain = unboxed(value)
        if isinstance(plain, bool) or not isinstance(plain, (str, numbers.Integral)):
            raise error(f"{name} holds {value!r}; a label is text or a whole number")
        found.append(str(plain))
    return tuple(found)


def _array(values: object, name: str, error: type[StatisticsError]) -> NDArray[Any]:
    if isinstance(values, np.ndarray):
        return values
    if isinstance(values, Iterable) and not isinstance(values, (str, bytes, list, tuple)):
        values = values if hasattr(values, "__array__") else list(values)
    try:
        return np.asarray(values)
    except (TypeError, ValueError):
        raise error(f"{name} are no array of numbers; rows of one table have one length") from None


def _as_floats(array: NDArray[Any], name: str, error: type[StatisticsError]) -> NDArray[np.float64]:
    kind = array.dtype.kind
    is_text = kind == "O" and any(isinstance(value, (str, bytes)) for value in array.flat)
    if kind not in "biufO" or is_text:
        raise error(f"{name} have dtype {array.dtype}; pass real numbers")
    try:
        return np.array(array, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise error(f"{name} hold something that is no real number; pass numbers, NaN where there is none") from None


def _wide(array: NDArray[Any], name: str, error: type[StatisticsError]) -> NDArray[Any]:
    try:
        return np.array(array, np.int64)
    except OverflowError:
        raise error(f"{name} holds a number beyond 64 bits; check the counts") from None

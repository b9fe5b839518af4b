"""What goes in through a public door: plain values out, or one typed refusal that says what to pass."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from leakscale.stats.errors import DesignError, ParameterError, ScoreError, SeedRequiredError
from leakscale.stats.parameters import count, floats, level, number, radius, seeded, share, tolerance, whole_numbers


@pytest.mark.parametrize("value", [7, np.int64(7), np.uint8(7), np.array(7)])
def test_count_of_any_integer_is_an_int_that_json_writes(value: object) -> None:
    """A numpy integer kept in a result makes `json.dumps(result.to_dict())` fail long after the call."""
    found = count(value, "n", 1)

    assert type(found) is int
    assert json.dumps(found) == "7"


@pytest.mark.parametrize("value", [True, np.True_, 7.0, 2.5, math.nan, math.inf, "7", None, [7], 10**30, -1])
def test_count_that_is_none_is_refused_by_name(value: object) -> None:
    """A float or a bool here is a mistake of the caller, and 10^30 parents exist nowhere."""
    with pytest.raises(ParameterError, match=r"^n_resamples is .*pass a whole number"):
        count(value, "n_resamples", 0)


def test_count_of_a_design_raises_the_error_of_its_subject() -> None:
    """Callers catch `DesignError` for a population that cannot be."""
    with pytest.raises(DesignError, match="the population"):
        count(0, "the population", 1, error=DesignError)


@pytest.mark.parametrize("value", [0.25, np.float32(0.25), Fraction(1, 4), np.array(0.25)])
def test_number_is_a_float_that_json_writes(value: object) -> None:
    """A Fraction or a float32 prints like a number and is none to JSON."""
    assert [type(f(value, "x")) for f in (number, share, radius, tolerance, level)] == [float] * 5


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "0.1", None, True, 1j, 10**400])
@pytest.mark.parametrize("converter", [number, share, radius, tolerance, level])
def test_what_is_no_finite_number_is_refused(converter: Callable[[object, str], float], value: object) -> None:
    """NaN compares false with every limit, so a check of the range alone lets it through."""
    with pytest.raises(ParameterError, match=r"^rho is"):
        converter(value, "rho")


@pytest.mark.parametrize(
    ("converter", "value"), [(share, 1.1), (share, -0.1), (radius, -1), (tolerance, 0), (level, 0), (level, 1)]
)
def test_number_outside_its_range_is_refused(converter: Callable[[object, str], float], value: object) -> None:
    """Each range is part of the meaning: a tolerance of zero can never be met, a radius of zero can."""
    with pytest.raises(ParameterError, match=r"^rho is"):
        converter(value, "rho")


def test_level_that_doubles_cannot_tell_from_zero_is_refused() -> None:
    """1 - 1e-17 is 1, and quantiles at 1 are infinite."""
    with pytest.raises(ParameterError, match="finer than doubles"):
        level(1e-17)


def test_numpy_seed_is_recorded_and_draws_as_the_int_does() -> None:
    """A seed that the result does not name cannot be repeated."""
    rng, recorded = seeded(np.int64(5))

    assert type(recorded) is int
    assert recorded == 5
    assert rng.integers(1 << 60) == np.random.Generator(np.random.PCG64(5)).integers(1 << 60)


def test_generator_is_used_as_it_is_and_has_no_seed() -> None:
    """The state of a generator is no number to record."""
    rng = np.random.default_rng(1)

    assert seeded(rng) == (rng, None)


@pytest.mark.parametrize("seed", [True, -1, 1.5, "a", math.nan, [1, 2], np.random.RandomState(1)])
def test_seed_that_cannot_be_recorded_is_refused(seed: object) -> None:
    """numpy would take some of these and the result would name no seed, or a wrong one."""
    with pytest.raises(ParameterError, match=r"^seed is"):
        seeded(seed)


def test_missing_seed_is_its_own_refusal() -> None:
    """Drawing from fresh entropy would give a number that nobody can repeat."""
    with pytest.raises(SeedRequiredError):
        seeded(None)


def test_masked_entry_becomes_nan() -> None:
    """A mask marks what was not measured; the number beneath it must not enter a mean."""
    found = floats(np.ma.array([1.0, 0.0, 1.0], mask=np.array([False, True, False])), "scores")

    assert np.array_equal(found, [1.0, math.nan, 1.0], equal_nan=True)


@pytest.mark.parametrize(
    "values", [["1", "0"], np.array(["1"], object), [1j], [[1, 0], [1]], [{}], np.array(["2020"], "datetime64[Y]")]
)
def test_array_of_something_else_is_refused_with_the_error_of_its_subject(values: object) -> None:
    """numpy would parse text, drop imaginary parts, or fail in its own words."""
    with pytest.raises(ScoreError, match=r"^scores"):
        floats(values, "scores", error=ScoreError)


def test_arrays_are_copies_in_one_dtype() -> None:
    """Squares of int8 scores overflow, and a result must not share memory with what the caller may change."""
    given = np.array([1, 0], np.int8)

    assert floats(given, "scores").dtype == np.float64
    assert whole_numbers(given, "counts").dtype == np.int64
    assert not np.shares_memory(whole_numbers(given.astype(np.int64), "counts"), given)


def test_whole_numbers_of_object_dtype_are_taken() -> None:
    """Tables read from files and databases hold Python's ints in object columns."""
    assert whole_numbers(np.array([3, np.int64(2)], object), "base").tolist() == [3, 2]


@pytest.mark.parametrize(
    "values",
    [[0.5], [1.0], ["1"], [2**64], np.array([2**63], np.uint64), np.ma.array([1, 2], mask=np.array([False, True]))],
)
def test_values_that_are_no_whole_numbers_of_64_bits_are_refused(values: object) -> None:
    """A silent cast would truncate, wrap around, or count what a mask hides."""
    with pytest.raises(ParameterError, match=r"^base"):
        whole_numbers(values, "base")

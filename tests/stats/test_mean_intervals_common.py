"""What every interval for the mean gap must do, whatever its formula."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from leakscale.stats import (
    MEAN_METHODS,
    DesignError,
    EmptySampleError,
    FinitePopulationDesign,
    Gaps,
    IntervalState,
    ParameterError,
    ScoreError,
    UnsupportedMethodError,
    mean_bounds,
    mean_ci,
    mean_half_width,
)

from .mean_cases import ORDER_FREE, WITH_POPULATION_FORM, a_frame, a_sample, numerators

every_method = pytest.mark.parametrize("method", MEAN_METHODS)
any_method = st.sampled_from(MEAN_METHODS)


@pytest.mark.parametrize("method", WITH_POPULATION_FORM)
@given(values=numerators())
def test_full_audit_has_width_zero(method: str, values: list[int]) -> None:
    """If every parent was audited nothing was left to sample, even where one parent or one value is all there is."""
    interval = mean_ci(Gaps(np.array(values), 2), a_frame(len(values)), method=method)

    assert interval.low == interval.estimate == interval.high == sum(values) / (2 * len(values))
    assert interval.state is IntervalState.CENSUS
    assert not interval.is_degenerate
    assert "exact" in str(interval)


@given(values=numerators(), method=any_method, size=st.sampled_from([12, 50, None]))
def test_mirrored_gaps_mirror_the_interval(values: list[int], method: str, size: int | None) -> None:
    """Which form is called the original carries a sign and nothing else, to the last bit."""
    gaps = Gaps(np.array(values), 2)

    forth, back = (mean_ci(one, a_frame(size), method=method) for one in (gaps, gaps.mirrored()))

    assert (back.low, back.estimate, back.high) == (-forth.high, -forth.estimate, -forth.low)
    assert back.state is forth.state


@given(
    values=numerators(least=2),
    method=st.sampled_from(ORDER_FREE),
    seed=st.integers(0, 9),
    size=st.sampled_from([30, None]),
)
def test_row_order_changes_nothing(values: list[int], method: str, seed: int, size: int | None) -> None:
    """Only betting reads the order; a formula that moved with it would depend on how a table was sorted."""
    shuffled = np.random.Generator(np.random.PCG64(seed)).permutation(values)

    assert mean_ci(Gaps(shuffled, 2), a_frame(size), method=method) == mean_ci(
        Gaps(np.array(values), 2), a_frame(size), method=method
    )


@given(
    values=numerators(), method=any_method, size=st.sampled_from([12, 300, None]), alpha=st.sampled_from([0.01, 0.3])
)
def test_bounds_are_ordered_and_inside_the_range_of_a_gap(
    values: list[int], method: str, size: int | None, alpha: float
) -> None:
    """A bound outside -1..1, or a NaN, is a number that cannot be."""
    interval = mean_ci(Gaps(np.array(values), 2), a_frame(size), method=method, alpha=alpha)

    assert -1 <= interval.low <= interval.estimate <= interval.high <= 1
    json.dumps(interval.to_dict(), allow_nan=False)


@every_method
def test_higher_level_is_wider_and_contains_the_lower(method: str) -> None:
    """Intervals at two levels that cross would let a reader pick the level after the fact."""
    wide, narrow = (mean_ci(a_sample(), a_frame(), method=method, alpha=alpha) for alpha in (0.01, 0.2))

    assert wide.low < narrow.low < narrow.high < wide.high


@every_method
def test_infinite_population_is_the_limit_of_large_ones(method: str) -> None:
    """A control bank without a frame must not be treated worse, or better, than a benchmark of a billion items."""
    large, none = (mean_ci(a_sample(), a_frame(size), method=method) for size in (10**9, None))

    assert (large.low, large.high) == pytest.approx((none.low, none.high), abs=1e-6)


@pytest.mark.parametrize("method", WITH_POPULATION_FORM)
def test_smaller_population_gives_a_narrower_interval(method: str) -> None:
    """What was observed is a larger share of it. A population size that went in upside down fails here."""
    widths = [mean_ci(a_sample(), a_frame(size), method=method).half_width for size in (61, 90, 600, 6000)]

    assert widths == sorted(widths)
    assert widths[0] < widths[-1] * 0.9


@every_method
@pytest.mark.parametrize("denominator", [1, 2, 5])
def test_many_samples_at_once_equal_one_by_one(method: str, denominator: int) -> None:
    """The laboratory simulates what `mean_ci` ships only if the two agree."""
    samples = [a_sample(count=25, seed=seed, denominator=denominator) for seed in range(12)]
    table = np.stack([sample.numerators for sample in samples])

    bounds = mean_bounds(table, denominator, a_frame(400), method=method)

    single = [mean_ci(sample, a_frame(400), method=method) for sample in samples]
    assert bounds.low.tolist() == [interval.low for interval in single]
    assert bounds.high.tolist() == [interval.high for interval in single]
    assert bounds.estimate.tolist() == [interval.estimate for interval in single]
    assert bounds.is_degenerate.tolist() == [interval.is_degenerate for interval in single]


@every_method
def test_plain_numbers_are_taken_as_gaps(method: str) -> None:
    """A notebook has an array, not a `Gaps`."""
    sample = a_sample()

    assert mean_ci(sample.values, a_frame(), method=method) == mean_ci(sample, a_frame(), method=method)


@every_method
@pytest.mark.parametrize("size", [40, None])
def test_single_parent_gives_a_state_or_a_proven_bound(method: str, size: int | None) -> None:
    """One gap has no variance. Silence, a NaN or a width of zero would all be lies."""
    interval = mean_ci([0.5], a_frame(size), method=method)

    assert interval.half_width > 0.5
    assert (interval.state is IntervalState.SINGLE_OBSERVATION) == (method in {"wald_fpc"} | _BERNSTEIN)
    assert interval.standard_error is None


_BERNSTEIN = {"empirical_bernstein", "empirical_bernstein_serfling"}


@pytest.mark.parametrize("size", [400, None])
def test_constant_gaps_are_flagged_by_wald_and_bounded_by_the_others(size: int | None) -> None:
    """Sixty equal gaps say something about the population, but not that the rest is equal too."""
    gaps = Gaps.of([0.5] * 60, denominator=2)

    wald = mean_ci(gaps, a_frame(size), method="wald_fpc")

    assert (wald.low, wald.high, wald.state) == (0.5, 0.5, IntervalState.CONSTANT)
    assert wald.standard_error is None
    assert not wald.excludes(0.0)
    for method in set(MEAN_METHODS) - {"wald_fpc"}:
        interval = mean_ci(gaps, a_frame(size), method=method)
        assert interval.state is IntervalState.ESTIMATED
        assert interval.low < 0.5


@pytest.mark.parametrize("method", ["hoeffding", "wald_fpc", "betting"])
def test_gaps_on_a_very_fine_lattice_are_bounded_too(method: str) -> None:
    """Sums of squares over a billion squared do not fit 64 bits; an overflow would come out as a small variance."""
    values = np.random.Generator(np.random.PCG64(4)).uniform(-1, 1, 300)

    interval = mean_ci(values, a_frame(), method=method)

    assert interval.estimate == pytest.approx(values.mean(), abs=1e-9)
    expected = 1.959964 * values.std(ddof=1) * math.sqrt((1 - 300 / 1319) / 300)
    assert method != "wald_fpc" or interval.half_width == pytest.approx(expected, rel=1e-6)


def test_planned_half_width_is_the_one_of_the_interval() -> None:
    """A power table must be about the interval that will be printed."""
    sample = a_sample()
    assert sample.variance is not None

    for method in set(MEAN_METHODS) - {"betting", "exact_hypergeometric"}:
        planned = mean_half_width(method, n=sample.count, population_size=1319, variance=sample.variance)
        assert planned == pytest.approx(mean_ci(sample, a_frame(), method=method).half_width, rel=1e-12)
    assert mean_half_width("wald_fpc", n=60, population_size=60, variance=0.1) == 0.0
    assert mean_half_width("hoeffding", n=1, population_size=None, variance=0.0) > 1


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"method": "t"}, UnsupportedMethodError, "'t' is not one of hoeffding, "),
        ({"method": "wald_fpc", "alpha": 0.0}, ParameterError, "between 0 and 1"),
        ({"method": "wald_fpc", "alpha": math.nan}, ParameterError, "between 0 and 1"),
        ({"method": "wald_fpc", "design": a_frame(10)}, DesignError, "60 parents were sampled from a population of 10"),
        ({"method": "wald_fpc", "gaps": []}, EmptySampleError, "undefined, not zero"),
        ({"method": "exact_hypergeometric", "gaps": [0.01, 0.5]}, UnsupportedMethodError, "use betting"),
    ],
)
def test_settings_that_mean_nothing_are_refused(
    settings: dict[str, object], error: type[Exception], words: str
) -> None:
    """The message says which rule was broken and what to do instead."""
    arguments = {"gaps": a_sample(), "design": a_frame(), **settings}
    with pytest.raises(error, match=words):
        mean_ci(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("table", [np.zeros(5, np.int64), np.zeros((5, 0), np.int64), np.zeros((2, 3))])
def test_samples_that_are_no_table_of_numerators_are_refused(table: NDArray[np.int64]) -> None:
    """Shares passed for numerators would be read as gaps a hundred times too small."""
    with pytest.raises(ScoreError, match="whole numerators"):
        mean_bounds(table, 2, a_frame(), method="hoeffding")


def test_half_width_of_a_method_without_a_formula_is_refused() -> None:
    """The width of the betting interval depends on the draws, not on their variance alone."""
    with pytest.raises(UnsupportedMethodError, match="simulate it"):
        mean_half_width("betting", n=100, population_size=1319, variance=0.1)
    with pytest.raises(ParameterError, match="n is 1"):
        mean_half_width("wald_fpc", n=1, population_size=1319, variance=0.1)


def test_strata_are_refused_by_methods_without_a_stratified_form() -> None:
    """Pooling strata as if they were one sample would be wrong and would not look wrong."""
    from leakscale.stats import Stratum

    design = FinitePopulationDesign(100, {"a": Stratum(100)})

    with pytest.raises(UnsupportedMethodError, match="no stratified form; use hoeffding or wald_fpc"):
        mean_ci(a_sample(), design, method="betting")
    with pytest.raises(UnsupportedMethodError, match="simple random samples"):
        mean_bounds(np.zeros((2, 5), np.int64), 2, design, method="hoeffding")


@pytest.mark.parametrize("design", [1319, None, "all"])
def test_what_is_no_design_is_refused(design: Any) -> None:
    """The bare population size is the natural mistake, and an AttributeError does not name it."""
    with pytest.raises(DesignError, match="FinitePopulationDesign"):
        mean_ci(a_sample(), design, method="hoeffding")


@pytest.mark.parametrize("alpha", [0, 1, math.nan, None, "0.05", 1e-17, True])
def test_level_that_is_none_is_refused(alpha: Any) -> None:
    """Each of these gave a bound of infinity, or an error of numpy's."""
    with pytest.raises(ParameterError, match="alpha is"):
        mean_ci(a_sample(), a_frame(), method="wald_fpc", alpha=alpha)


@pytest.mark.parametrize("alpha", [np.float32(0.25), Fraction(1, 4)])
@every_method
def test_level_of_any_number_type_is_recorded_as_a_plain_float(method: str, alpha: Any) -> None:
    """A Fraction or a float32 in the result is no JSON."""
    interval = mean_ci(a_sample(), a_frame(), method=method, alpha=alpha)

    assert json.loads(json.dumps(interval.to_dict()))["alpha"] == 0.25
    assert interval == mean_ci(a_sample(), a_frame(), method=method, alpha=0.25)


@every_method
def test_no_samples_have_no_bounds(method: str) -> None:
    """An empty batch is a batch; betting fell over it."""
    assert [len(column) for column in mean_bounds(np.zeros((0, 5), np.int64), 2, a_frame(), method=method)] == [0] * 4


def test_samples_may_be_lists() -> None:
    """Two rows typed by hand are the first thing that anybody tries."""
    assert mean_bounds([[0, 1, -1]], 2, a_frame(), method="hoeffding").estimate.tolist() == [0.0]


@pytest.mark.parametrize("settings", [{"n": math.nan}, {"n": 20.5}, {"variance": None}, {"variance": -1}])
def test_plan_with_impossible_numbers_is_refused(settings: dict[str, Any]) -> None:
    """A NaN half-width in a registration is noticed when it is too late."""
    with pytest.raises(ParameterError, match=f"{next(iter(settings))} is"):
        mean_half_width("wald_fpc", **{"n": 20, "population_size": 100, "variance": 0.1, **settings})


def test_lattice_too_fine_for_layers_is_refused_before_memory_is_asked_for() -> None:
    """A billionth has two billion layers, which took 30 GiB before the refusal."""
    with pytest.raises(UnsupportedMethodError, match="use betting"):
        mean_bounds([[0, 1]], 10**9, a_frame(), method="exact_hypergeometric")


def test_population_beyond_the_precision_of_the_tails_is_refused() -> None:
    """At 10^14 parents the logarithms of factorials have no digits left for a tail."""
    with pytest.raises(DesignError, match="superpopulation"):
        mean_ci(a_sample(), a_frame(10**14), method="exact_hypergeometric")

"""The population behind a sample."""

from __future__ import annotations

import json
import math
import pickle
from typing import Any

import numpy as np
import pytest

from leakscale.stats import DesignError, FinitePopulationDesign, Gaps, Stratum, mean_ci


def test_weights_are_the_shares_of_the_strata_in_the_benchmark() -> None:
    """Weights from the sample instead of the benchmark would bias every stratified estimate."""
    design = FinitePopulationDesign(100, {"easy": Stratum(75), "hard": Stratum(25)})

    assert design.weights == {"easy": 0.75, "hard": 0.25}


@pytest.mark.parametrize(
    ("size", "strata", "words"),
    [
        (0, None, "at least 1"),
        (10, {"a": Stratum(4), "b": Stratum(5)}, "9 parents and the population 10"),
        (10, {}, "0 parents and the population 10"),
        (None, {"a": Stratum(4)}, "no weights"),
    ],
)
def test_design_that_contradicts_itself_is_refused(
    size: int | None, strata: dict[str, Stratum] | None, words: str
) -> None:
    """A wrong size changes every interval without a trace, so it is caught before the first one."""
    with pytest.raises(DesignError, match=words):
        FinitePopulationDesign(size, strata)


def test_empty_stratum_is_refused() -> None:
    """Nobody can be sampled from it."""
    with pytest.raises(DesignError, match="a stratum has size 0"):
        Stratum(0)


def test_sample_larger_than_the_population_is_refused() -> None:
    """Passing the sample size, or a correction factor, as the population size is an old mistake."""
    with pytest.raises(DesignError, match="200 parents were sampled from a population of 100"):
        FinitePopulationDesign(100).require_sample(200)


def test_superpopulation_is_never_observed_whole() -> None:
    """A control bank is one realisation of a writing procedure, however large it is."""
    design = FinitePopulationDesign(None)
    design.require_sample(10**6)

    assert not design.is_census(10**6)
    assert FinitePopulationDesign(40).is_census(40)


def test_design_travels_between_processes_and_into_json() -> None:
    """The laboratory sends designs to its workers, and reports print them."""
    design = FinitePopulationDesign(100, {"easy": Stratum(75), "hard": Stratum(25)})

    assert pickle.loads(pickle.dumps(design)) == design
    assert json.loads(json.dumps(design.to_dict())) == {"population_size": 100, "strata": {"easy": 75, "hard": 25}}
    assert str(design) == "population of 100 parent items in 2 strata"
    assert str(FinitePopulationDesign(None)) == "superpopulation of parent items"


@pytest.mark.parametrize("size", [math.nan, math.inf, 1319.5, True, "1319", 10**30])
def test_size_that_is_no_whole_number_is_refused(size: Any) -> None:
    """NaN compares false with every limit and made every finite-population correction NaN."""
    with pytest.raises(DesignError, match="the population has size"):
        FinitePopulationDesign(size)
    with pytest.raises(DesignError, match="a stratum has size"):
        Stratum(size)


def test_numpy_size_is_written_as_a_plain_number() -> None:
    """Sizes are counted with numpy and printed as JSON."""
    size: Any = np.int64(100)

    design = FinitePopulationDesign(size, {"a": Stratum(size)})

    assert json.dumps(design.to_dict()) == '{"population_size": 100, "strata": {"a": 100}}'


def test_design_with_strata_is_a_key_and_cannot_be_changed() -> None:
    """Results are cached by design; a dict inside has no hash, and could be emptied after the check."""
    given = {"easy": Stratum(75), "hard": Stratum(25)}
    design = FinitePopulationDesign(100, given)
    given["new"] = Stratum(1)

    assert {design: 1}[FinitePopulationDesign(100, {"hard": Stratum(25), "easy": Stratum(75)})] == 1
    assert design.strata == {"easy": Stratum(75), "hard": Stratum(25)}
    assert not hasattr(design.strata, "__setitem__")


def test_whole_numbers_name_strata_as_their_text() -> None:
    """Strata are often numbered, and 1 in the table must find 1 in the design."""
    names: Any = {1: Stratum(75), 2: Stratum(25)}
    labels: Any = np.array([1, 1, 2])

    interval = mean_ci(
        Gaps.of([0, 1, 1], denominator=1, strata=labels), FinitePopulationDesign(100, names), method="hoeffding"
    )

    assert interval.estimate == 0.75 * 0.5 + 0.25
    with pytest.raises(DesignError, match="the same label"):
        FinitePopulationDesign(100, {**names, "1": Stratum(1)})

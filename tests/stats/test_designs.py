"""The population behind a sample."""

from __future__ import annotations

import json
import pickle

import pytest

from leakscale.stats import DesignError, FinitePopulationDesign, Stratum


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

"""An effect measured twice: how far it moved, with families that answered both drawn once."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from leakscale.stats import (
    DesignError,
    IntervalState,
    Outcomes,
    Pairing,
    SeedRequiredError,
    crossed_contrast,
    difference_in_differences,
    effect_drift,
)

from .exposure_cases import an_outcomes

Arms = dict[str, tuple[Outcomes, Outcomes]]


def arms(*, seed: int, lift: float = 0.2, first: int = 0, families: int = 40) -> Arms:
    """Build two domains; families are named from `first` on."""
    ids = [f"f{number:03d}" for number in range(first, first + families)]
    return {
        domain: (
            an_outcomes(families=families, seed=seed + place, ids=[f"{domain}-0-{each}" for each in ids]),
            an_outcomes(
                families=families, lift=lift, seed=seed + place + 5, ids=[f"{domain}-2-{each}" for each in ids]
            ),
        )
        for place, domain in enumerate(("python", "sql"))
    }


def test_the_same_families_drift_as_one_model_less_another() -> None:
    """The estimator whose coverage is stored, number for number."""
    stored, new = arms(seed=1), arms(seed=20, lift=0.5)
    cells = {(name, domain): pair for name, each in (("a", stored), ("b", new)) for domain, pair in each.items()}
    half = Fraction(1, 2)

    mean, python, sql = effect_drift(stored, new, n_resamples=400, seed=3)

    weights = {("b", "python"): half, ("b", "sql"): half, ("a", "python"): -half, ("a", "sql"): -half}
    assert mean.drift == crossed_contrast(cells, weights, n_resamples=400, seed=3)
    assert mean.exact == crossed_contrast(cells, weights, method="exact")
    assert sql.drift == crossed_contrast(cells, {("b", "sql"): 1.0, ("a", "sql"): -1.0}, n_resamples=400, seed=3)
    assert (mean.domain, python.domain, sql.domain) == (None, "python", "sql")
    assert (mean.pairing, mean.common_count, python.common_count) == (Pairing.ALL, 160, 80)


def test_stored_and_new_are_the_effects_themselves() -> None:
    """A reader sees what moved, not only by how much."""
    stored, new = arms(seed=1), arms(seed=20, lift=0.5)

    for one in effect_drift(stored, new, n_resamples=200, seed=3)[1:]:
        assert one.domain is not None
        assert one.stored.estimate == difference_in_differences(*stored[one.domain], method="exact").effect.estimate
        assert one.new.estimate == difference_in_differences(*new[one.domain], method="exact").effect.estimate
        assert one.drift.estimate == pytest.approx(one.new.estimate - one.stored.estimate, abs=1e-15)


def test_the_same_answers_twice_have_not_moved_at_all() -> None:
    """Drawn apart, they would look as uncertain as two strangers."""
    stored = arms(seed=1)

    for one in effect_drift(stored, stored, n_resamples=200, seed=3):
        assert (one.drift.estimate, one.drift.state) == (0.0, IntervalState.CONSTANT)
        assert one.exact is not None
        assert one.exact.state is IntervalState.CONSTANT


def test_strange_families_are_drawn_apart() -> None:
    """Of another version of a benchmark: both measurements' own variation counts."""
    stored, new = arms(seed=1), arms(seed=20, first=500, families=30)
    mean, python, _ = effect_drift(stored, new, n_resamples=200, seed=3)
    errors = [
        difference_in_differences(*each["python"], method="exact").effect.standard_error or math.nan
        for each in (stored, new)
    ]

    assert (mean.pairing, mean.common_count, mean.stored_count, mean.new_count) == (Pairing.NONE, 0, 160, 120)
    assert python.exact is not None
    assert python.exact.standard_error is not None
    counts = (40, 30)  # the effect's own error divides by n - 1, the limit's by n
    shrunk = [error * math.sqrt((n - 1) / n) for error, n in zip(errors, counts, strict=True)]
    assert python.exact.standard_error == pytest.approx(math.hypot(*shrunk), rel=0.02)


def test_families_of_which_some_answered_both_have_no_exact_twin() -> None:
    """A mean over a number of families that is drawn itself is a ratio."""
    mean, *_ = effect_drift(arms(seed=1), arms(seed=20, first=10), n_resamples=200, seed=3)

    assert (mean.pairing, mean.common_count) == (Pairing.SOME, 120)
    assert mean.exact is None
    assert mean.drift.state is IntervalState.ESTIMATED


def test_one_domain_has_no_mean_over_domains() -> None:
    """It would be the same number twice."""
    stored, new = ({"sql": arms(seed=each)["sql"]} for each in (1, 20))

    assert [one.domain for one in effect_drift(stored, new, n_resamples=200, seed=3)] == ["sql"]


def test_what_cannot_be_compared_is_refused() -> None:
    """Other domains, families without names, a simulation without a seed."""
    stored = arms(seed=1)
    nameless = {domain: (an_outcomes(), an_outcomes()) for domain in stored}

    with pytest.raises(DesignError, match="compare the same domains"):
        effect_drift(stored, {"sql": stored["sql"]}, seed=1)
    with pytest.raises(DesignError, match="families have no ids"):
        effect_drift(stored, nameless, seed=1)
    with pytest.raises(SeedRequiredError):
        effect_drift(stored, stored)

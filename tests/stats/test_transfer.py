"""The transferred share."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from leakscale.stats import (
    DidResult,
    Outcomes,
    PairingError,
    ParameterError,
    RatioShape,
    SeedRequiredError,
    ToldEffects,
    UnsupportedMethodError,
    Withheld,
    difference_in_differences,
    transfer_share,
)


def a_study(
    *, public: float = 0.5, fresh: float = 0.3, parents: int = 100, start: float = 0.3, seed: int = 0
) -> tuple[DidResult, DidResult]:
    """Simulate exposed and untouched parents with one public and two fresh forms each."""
    rng = np.random.Generator(np.random.PCG64(seed))
    ability = rng.beta(2, 2, (2, parents)) * 0.4 + start - 0.2

    def result(lift: float, forms: int) -> DidResult:
        arms = []
        for group, gain in ((0, 0.0), (1, lift)):
            before = rng.binomial(forms, ability[group])
            after = rng.binomial(forms, np.clip(ability[group] + gain, 0, 1))
            arms.append(Outcomes(before, after, forms))
        return difference_in_differences(arms[0], arms[1], method="exact")

    return result(public, 1), result(fresh, 2)


def from_changes(
    c0: Sequence[int], c2: Sequence[int], ids: tuple[list[str], list[str]] | None = None, *, draws: int = 1
) -> DidResult:
    """Build a result whose parents change by given numbers of draws."""
    arms = []
    for i, changes in enumerate((c0, c2)):
        base, adapted = [max(-x, 0) for x in changes], [max(x, 0) for x in changes]
        arms.append(Outcomes(base, adapted, draws, ids[i] if ids else None))
    return difference_in_differences(arms[0], arms[1], method="exact")


def test_share_is_the_ratio_of_the_effects() -> None:
    """Exactly, from integer totals."""
    public, fresh = from_changes([0, 0, 1, 0], [1, 1, 1, 0]), from_changes([0, 0, 1, 0], [1, 0, 1, 1], draws=2)

    result = transfer_share(public, fresh)

    assert (result.public, result.fresh) == (0.5, 0.25)
    assert result.share == 0.5
    assert result.method == "fieller"


def test_told_effects_are_divided_and_judged_by_instead_of_the_exact_ones() -> None:
    """A server that may not tell exact effects must not tell them by their ratio, its set, or a rule's words either."""
    public, fresh = a_study(seed=3)
    exact = Fraction(public.effect.estimate), Fraction(fresh.effect.estimate)
    told = ToldEffects(Fraction(1, 2), Fraction(1, 4), censored=(False, True))

    result = transfer_share(public, fresh, told=told)

    assert (result.share, result.public, result.fresh) == (0.5, 0.5, 0.25)
    assert result.is_fresh_censored
    assert result.bounds is not None
    assert result.bounds.contains(0.5)
    assert transfer_share(public, fresh, told=ToldEffects(*exact, censored=(False, False))).bounds == (
        transfer_share(public, fresh).bounds
    )
    withheld = transfer_share(public, fresh, told=ToldEffects(Fraction(1, 50), Fraction(0), censored=(False, False)))
    assert withheld.reason == (
        "the public effect of +2.0 points is below the floor of +5.0; nothing was planted that could transfer"
    )
    with pytest.raises(UnsupportedMethodError, match="fieller"):
        transfer_share(public, fresh, method="percentile", seed=1, told=told)


def test_fieller_uses_the_variances_and_the_covariance_of_the_parents() -> None:
    """A parent's forms rise together; without the covariance the set would be too wide."""
    public, fresh = a_study(seed=3)
    a, b = (np.stack((p.changes, f.changes / 2)) for p, f in ((public.c0, fresh.c0), (public.c2, fresh.c2)))
    covariance = np.cov(a) / 100 + np.cov(b) / 100
    critical = 1.959963984540054**2
    quadratic = [
        public.effect.estimate**2 - critical * covariance[0, 0],
        -2 * (public.effect.estimate * fresh.effect.estimate - critical * covariance[0, 1]),
        fresh.effect.estimate**2 - critical * covariance[1, 1],
    ]

    bounds = transfer_share(public, fresh).bounds

    assert bounds is not None
    assert (bounds.low, bounds.high) == pytest.approx(sorted(np.roots(quadratic)), rel=1e-9)


def test_percentile_share_equals_a_plain_loop() -> None:
    """The papers' interval: E and C apart, a parent with all forms and states."""
    public, fresh = a_study(seed=4)
    rng = np.random.Generator(np.random.PCG64(9))
    effects = np.zeros((400, 2))
    for sign, group in ((-1, "c0"), (1, "c2")):
        rows = np.stack((getattr(public, group).changes, getattr(fresh, group).changes), axis=1)
        rows = rows[np.lexsort(rows.T[::-1])]
        for replicate in range(400):
            effects[replicate] += sign * rows[rng.integers(0, 100, 100)].mean(axis=0) / (1, 2)
    shares = effects[:, 1] / effects[:, 0]

    result = transfer_share(public, fresh, method="percentile", seed=9, n_resamples=400)

    assert result.bounds is not None
    assert result.bounds.low == pytest.approx(np.quantile(shares, 0.025), abs=1e-12)
    assert result.bounds.high == pytest.approx(np.quantile(shares, 0.975), abs=1e-12)
    assert result.resamples_above == {0.25: (shares > 0.25).sum(), 0.5: (shares > 0.5).sum()}


def test_failed_manipulation_withholds_the_share_with_its_reason() -> None:
    """Study 4: a share of a negative effect is not a share of anything."""
    public, fresh = from_changes([0, 1, 0, 0], [-1, -1, 0, 0]), from_changes([0, 0, 0, 0], [-1, 0, -1, 1])

    result = transfer_share(public, fresh)

    assert result.withheld is Withheld.FAILED_MANIPULATION
    assert result.share is None
    assert result.bounds is None
    assert "below the floor of +5.0" in str(result)
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["withheld"] == "failed_manipulation"


@pytest.mark.parametrize("method", ["fieller", "percentile"])
def test_censored_denominator_withholds_the_share(method: str) -> None:
    """Studies 5 and 6: at a ceiling of 1.000 the public effect is at least what was seen, so the ratio is too large."""
    c0 = Outcomes([5, 4, 3, 6], [5, 5, 3, 6], 10)
    public = difference_in_differences(c0, Outcomes([4, 6, 5, 5], [10] * 4, 10), method="exact")
    fresh = difference_in_differences(c0, Outcomes([4, 6, 5, 5], [9, 10, 10, 10], 10), method="exact")

    result = transfer_share(public, fresh, method=method, seed=1, n_resamples=100)
    reverse = transfer_share(fresh, public, method=method, seed=1, n_resamples=100)

    assert result.withheld is Withheld.CENSORED
    assert result.resamples_above is None
    assert reverse.share is not None
    assert reverse.is_fresh_censored
    assert "at least" in str(reverse)


def test_parents_without_variation_withhold_the_share() -> None:
    """No error to compare with is not an exact share."""
    constant, single = from_changes([0] * 5, [1] * 5, draws=2), from_changes([0], [1], draws=2)

    assert transfer_share(constant, constant).withheld is Withheld.NO_VARIATION
    assert transfer_share(single, single).withheld is Withheld.NO_VARIATION


def test_small_effects_get_an_unbounded_answer_from_both_methods() -> None:
    """A denominator that may be zero leaves the share open, and both methods say so."""
    public = from_changes([1, -1] * 10, [1, -1] * 9 + [1, 1])
    fresh = from_changes([1, 0, -1, 0] * 5, [0, 1, -1, 0] * 4 + [1, 1, 0, 0])
    assert public.effect.estimate >= 0.05
    assert not public.effect.excludes(0)

    by_fieller = transfer_share(public, fresh)
    by_percentile = transfer_share(public, fresh, method="percentile", seed=1, n_resamples=2000)

    assert by_fieller.bounds is not None
    assert by_percentile.bounds is not None
    assert not by_fieller.bounds.is_bounded
    assert by_percentile.bounds.shape is RatioShape.EVERYTHING
    assert "unbounded" in str(by_fieller)


@pytest.mark.parametrize("method", ["fieller", "percentile"])
def test_duplicated_draws_change_nothing(method: str) -> None:
    """Copies of forms are no new parents."""
    public, fresh = a_study(seed=3)
    copies = difference_in_differences(
        *(Outcomes(5 * one.base, 5 * one.adapted, 10) for one in (fresh.c0, fresh.c2)), method="exact"
    )

    once = transfer_share(public, fresh, method=method, seed=1, n_resamples=300).bounds
    five = transfer_share(public, copies, method=method, seed=1, n_resamples=300).bounds

    assert once is not None
    assert five is not None
    assert (five.low, five.high) == pytest.approx((once.low, once.high), rel=1e-9)


def test_parents_with_missing_forms_are_matched_by_id() -> None:
    """Study 6: 93 exposed and 83 control parents have a deep form, 100 and 100 a public one."""
    ids = [f"p{i}" for i in range(8)]
    public = from_changes([0, 1, 0, -1, 0, 0, 1, 0], [1, 1, 0, 1, 1, 1, 0, 0], (ids, ids))
    deep = from_changes([0, 0, -1, 0], [1, 0, 1, 1, 0], ([ids[i] for i in (7, 2, 3, 5)], ids[1:6]))

    result = transfer_share(public, deep)

    assert result.share == pytest.approx((3 / 5 + 1 / 4) / (5 / 8 - 1 / 8))
    with pytest.raises(PairingError, match="give ids to match"):
        transfer_share(from_changes([0, 1, 0], [1, 0, 1]), from_changes([0, 0], [1, 0]))
    with pytest.raises(PairingError, match="only 1 of 2 outcomes have ids"):
        transfer_share(public, from_changes([0] * 8, [1] * 8))
    with pytest.raises(PairingError, match="no family in common"):
        transfer_share(public, from_changes([0, 1], [1, 0], (["x", "y"], ["x", "y"])))


def test_fieller_covers_the_planted_share() -> None:
    """The whole path, from binary draws to the set, at the sizes of the paper."""
    covered = 0
    for trial in range(400):
        public, fresh = a_study(public=0.3, fresh=0.15, seed=trial)
        bounds = transfer_share(public, fresh, floor=1e-9).bounds
        covered += bounds is None or bounds.contains(0.5)

    assert 0.92 <= covered / 400 <= 0.98


def test_settings_that_mean_nothing_are_refused_by_name() -> None:
    """The message says which rule was broken."""
    public, fresh = a_study()

    with pytest.raises(UnsupportedMethodError, match="fieller, percentile"):
        transfer_share(public, fresh, method="delta")
    with pytest.raises(SeedRequiredError, match="needs a seed"):
        transfer_share(public, fresh, method="percentile")
    with pytest.raises(ParameterError, match="alpha is 2"):
        transfer_share(public, fresh, alpha=2)

"""Effects over several studies."""

from __future__ import annotations

import json

import numpy as np
import pytest

from leakscale.stats import (
    DidResult,
    EmptyCellError,
    Outcomes,
    PairingError,
    Withheld,
    difference_in_differences,
    pooled_effects,
)


def a_result(lift: float, *, forms: int, seed: int, parents: int = 100) -> DidResult:
    """Simulate a study on parents whose ability is the same in every study."""
    ability = np.random.Generator(np.random.PCG64(0)).beta(2, 3, (2, parents)) * 0.5
    rng = np.random.Generator(np.random.PCG64(seed))
    arms = [
        Outcomes(rng.binomial(forms, each), rng.binomial(forms, np.clip(each + gain, 0, 1)), forms)
        for each, gain in zip(ability, (0.0, lift), strict=True)
    ]
    return difference_in_differences(arms[0], arms[1], method="exact")


def four_studies() -> dict[str, tuple[DidResult, DidResult]]:
    lifts = {"qwen": (0.24, 0.17), "smol": (0.15, 0.1), "olmo": (0.5, 0.35), "stable": (0.25, 0.23)}
    return {
        name: (a_result(public, forms=1, seed=10 + i), a_result(fresh, forms=2, seed=20 + i))
        for i, (name, (public, fresh)) in enumerate(lifts.items())
    }


def test_pooled_effects_are_equal_weight_means_and_the_share_is_their_ratio() -> None:
    """Table 16: not the mean of the shares, which one noisy study could carry away."""
    studies = four_studies()
    public = np.mean([one.effect.estimate for one, _ in studies.values()])
    fresh = np.mean([two.effect.estimate for _, two in studies.values()])

    result = pooled_effects(studies, seed=1, n_resamples=500)

    assert result.public.estimate == pytest.approx(public)
    assert result.fresh.estimate == pytest.approx(fresh)
    assert result.share.share == pytest.approx(fresh / public)
    assert result.gap.estimate == pytest.approx(public - fresh)
    assert result.resamples_positive == (500, 500)
    assert not result.is_falsified
    json.dumps(result.to_dict(), allow_nan=False)


def test_replicates_equal_a_plain_loop_that_draws_parents_once_for_all_studies() -> None:
    """The same parents were planted in every study; drawn apart, their luck would average away."""
    studies = four_studies()
    rng = np.random.Generator(np.random.PCG64(7))
    means = np.zeros(200)
    for sign, group in ((-1, "c0"), (1, "c2")):
        columns = [getattr(result, group).changes for pair in studies.values() for result in pair]
        rows = np.stack(columns, axis=1)
        rows = rows[np.lexsort(rows.T[::-1])]
        for replicate in range(200):
            means[replicate] += sign * rows[rng.integers(0, 100, 100)].mean(axis=0)[0::2].mean()

    result = pooled_effects(studies, seed=7, n_resamples=200)

    assert (result.public.low, result.public.high) == pytest.approx(
        tuple(np.quantile(means, (0.025, 0.975))), abs=1e-12
    )


def test_copies_of_one_study_are_one_study() -> None:
    """Drawn apart, four copies would halve the error of one."""
    pair = four_studies()["qwen"]

    one = pooled_effects({"a": pair}, seed=3, n_resamples=2000)
    four = pooled_effects(dict.fromkeys("abcd", pair), seed=3, n_resamples=2000)

    assert (four.public.low, four.public.high) == pytest.approx((one.public.low, one.public.high), abs=1e-12)


def test_falsifier_fires_at_two_models_without_transfer() -> None:
    """It was fixed in advance, and it counts clearly planted studies only."""
    dead = (a_result(0.4, forms=1, seed=1), a_result(-0.2, forms=2, seed=2))
    unplanted = (a_result(0.0, forms=1, seed=5), a_result(-0.2, forms=2, seed=6))
    harmed = (a_result(-0.4, forms=1, seed=3), a_result(-0.2, forms=2, seed=4))
    assert dead[1].effect.estimate <= 0
    assert harmed[0].effect.high < 0
    assert not unplanted[0].effect.excludes(0)

    once = pooled_effects({**four_studies(), "x": dead, "y": unplanted, "w": harmed}, seed=1, n_resamples=100)
    twice = pooled_effects({**four_studies(), "x": dead, "z": dead}, seed=1, n_resamples=100)

    assert once.falsifying == ("x",)
    assert not once.is_falsified
    assert twice.is_falsified
    assert "falsifier fired" in str(twice)


def test_one_censored_study_withholds_the_pooled_share() -> None:
    """The mean of effects of which one is a lower bound is a lower bound."""
    c0 = Outcomes([0, 1] * 50, [0, 1] * 50, 1)
    public = difference_in_differences(c0, Outcomes([0, 1] * 50, [1] * 100, 1), method="exact")
    fresh = four_studies()["qwen"][1]

    result = pooled_effects({**four_studies(), "ceiling": (public, fresh)}, seed=1, n_resamples=100)

    assert result.share.withheld is Withheld.CENSORED
    assert result.public.estimate > 0.05


def test_studies_of_different_parents_are_refused() -> None:
    """There is no joint resample of them."""
    other = (a_result(0.3, forms=1, seed=1, parents=90), a_result(0.2, forms=2, seed=2, parents=90))

    with pytest.raises(PairingError, match=r"\[90, 100\] families"):
        pooled_effects({**four_studies(), "other": other}, seed=1)
    with pytest.raises(EmptyCellError, match="no study"):
        pooled_effects({}, seed=1)

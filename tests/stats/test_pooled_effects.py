"""Effects over several studies."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

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
    transfer_share,
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


def four_studies() -> dict[str, dict[str, DidResult]]:
    lifts = {"qwen": (0.24, 0.17), "smol": (0.15, 0.1), "olmo": (0.5, 0.35), "stable": (0.25, 0.23)}
    return {
        name: {"public": a_result(public, forms=1, seed=10 + i), "fresh": a_result(fresh, forms=2, seed=20 + i)}
        for i, (name, (public, fresh)) in enumerate(lifts.items())
    }


def test_pooled_effects_are_equal_weight_means_and_the_share_is_their_ratio() -> None:
    """Table 16: not the mean of the shares, which one noisy study could carry away."""
    studies = four_studies()
    public = np.mean([each["public"].effect.estimate for each in studies.values()])
    fresh = np.mean([each["fresh"].effect.estimate for each in studies.values()])

    result = pooled_effects(studies, seed=1, n_resamples=500)

    assert result.public.estimate == pytest.approx(public)
    assert result.fresh.estimate == pytest.approx(fresh)
    assert result.share.share == pytest.approx(fresh / public)
    assert result.fieller.share == result.share.share
    assert result.gap.estimate == pytest.approx(public - fresh)
    assert result.resamples_positive == {"public": 500, "fresh": 500}
    assert not result.is_falsified
    json.dumps(result.to_dict(), allow_nan=False)


def test_replicates_equal_a_plain_loop_that_draws_parents_once_for_all_studies() -> None:
    """The same parents were planted in every study; drawn apart, their luck would average away."""
    studies = four_studies()
    rng = np.random.Generator(np.random.PCG64(7))
    means = np.zeros(200)
    for sign, group in ((-1, "c0"), (1, "c2")):
        columns = [getattr(result, group).changes for pair in studies.values() for result in pair.values()]
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
    dead = {"public": a_result(0.4, forms=1, seed=1), "fresh": a_result(-0.2, forms=2, seed=2)}
    unplanted = {"public": a_result(0.0, forms=1, seed=5), "fresh": a_result(-0.2, forms=2, seed=6)}
    harmed = {"public": a_result(-0.4, forms=1, seed=3), "fresh": a_result(-0.2, forms=2, seed=4)}
    assert dead["fresh"].effect.estimate <= 0
    assert harmed["public"].effect.high < 0
    assert not unplanted["public"].effect.excludes(0)

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
    fresh = four_studies()["qwen"]["fresh"]

    result = pooled_effects({**four_studies(), "ceiling": {"public": public, "fresh": fresh}}, seed=1, n_resamples=100)

    assert result.share.withheld is Withheld.CENSORED
    assert result.public.estimate > 0.05


def test_studies_of_different_parents_are_refused() -> None:
    """There is no joint resample of them."""
    other = {
        "public": a_result(0.3, forms=1, seed=1, parents=90),
        "fresh": a_result(0.2, forms=2, seed=2, parents=90),
    }

    with pytest.raises(PairingError, match=r"\[90, 100\] families"):
        pooled_effects({**four_studies(), "other": other}, seed=1)
    with pytest.raises(EmptyCellError, match="no study"):
        pooled_effects({}, seed=1)


def with_ids(result: DidResult, *, untouched: Sequence[str], exposed: Sequence[str]) -> DidResult:
    """Name the parents of a study."""
    return difference_in_differences(
        Outcomes(result.c0.base, result.c0.adapted, result.c0.draws, untouched),
        Outcomes(result.c2.base, result.c2.adapted, result.c2.draws, exposed),
        method="exact",
    )


def named_studies(*groups: tuple[Sequence[str], Sequence[str]]) -> dict[str, dict[str, DidResult]]:
    """Name the parents of two or more of the four studies: untouched and exposed ones of each."""
    return {
        name: {form: with_ids(one, untouched=untouched, exposed=exposed) for form, one in effects.items()}
        for (name, effects), (untouched, exposed) in zip(four_studies().items(), groups, strict=False)
    }


P, Q, R, S = ([f"{letter}{number}" for number in range(100)] for letter in "pqrs")


def half_width(studies: dict[str, dict[str, DidResult]]) -> float:
    return pooled_effects(studies, seed=5, n_resamples=4000).public.half_width


def test_named_parents_are_matched_whatever_their_order() -> None:
    """Two audits list the same items in two orders; the draw is of items."""
    studies = named_studies((P, Q), (P, Q))
    turned = dict(studies)
    second = studies["smol"]
    turned["smol"] = {
        form: difference_in_differences(
            Outcomes(one.c0.base[::-1], one.c0.adapted[::-1], one.c0.draws, P[::-1]),
            Outcomes(one.c2.base[::-1], one.c2.adapted[::-1], one.c2.draws, Q[::-1]),
            method="exact",
        )
        for form, one in second.items()
    }

    assert pooled_effects(turned, seed=5).to_dict() == pooled_effects(studies, seed=5).to_dict()
    assert pooled_effects(studies, seed=5).parent_count == 200


def test_studies_of_other_parents_are_independent() -> None:
    """Their errors average out as those of two samples do; of the same parents they do not."""
    apart = pooled_effects(named_studies((P, Q), (R, S)), seed=5, n_resamples=4000)
    errors = [each["public"].effect.standard_error or 0.0 for each in named_studies((P, Q), (R, S)).values()]

    assert apart.parent_count == 400
    assert min(errors) > 0
    assert apart.public.standard_error == pytest.approx(math.hypot(*errors) / 2, rel=0.04)


def test_a_parent_exposed_in_one_study_and_untouched_in_another_is_drawn_once() -> None:
    """Two studies that exchange the groups of one parent cancel that parent's luck, and a joint draw knows it."""
    one = a_result(0.3, forms=1, seed=10)
    same = Outcomes(one.c2.base, one.c2.adapted, 1, Q)
    other = Outcomes(one.c0.base, one.c0.adapted, 1, P)
    there = difference_in_differences(other, same, method="exact")
    back = difference_in_differences(same, other, method="exact")
    crossed = {"there": {"public": there, "fresh": there}, "back": {"public": back, "fresh": back}}

    result = pooled_effects(crossed, seed=5, n_resamples=1000)

    assert result.public.estimate == 0
    assert (result.public.low, result.public.high) == pytest.approx((0, 0), abs=1e-12)
    assert result.parent_count == 200
    assert "some are exposed in one study and untouched in another" in result.resampled


def test_a_crossed_draw_has_about_the_error_of_the_studies_apart() -> None:
    """Groups that were drawn at random for each study share parents and hardly any luck."""
    half = [*P[:50], *Q[:50]], [*P[50:], *Q[50:]]
    crossed = named_studies((P, Q), half)

    assert half_width(crossed) == pytest.approx(half_width(named_studies((P, Q), (R, S))), rel=0.15)


def test_a_form_that_some_studies_lack_is_pooled_over_the_others() -> None:
    """Deep forms are dear; a study without them is no study with a deep effect of zero."""
    studies = four_studies()
    for name, lift in (("qwen", 0.1), ("olmo", 0.2)):
        studies[name]["deep"] = a_result(lift, forms=1, seed=40)
    deep = [studies[name]["deep"].effect.estimate for name in ("qwen", "olmo")]

    result = pooled_effects(studies, seed=1, n_resamples=500)

    assert result.forms["deep"].estimate == pytest.approx(np.mean(deep))
    assert result.study_count("deep") == 2
    assert result.study_count("public") == 4
    assert result.public.estimate == pooled_effects(four_studies(), seed=1, n_resamples=500).public.estimate


def test_the_share_is_of_the_form_that_was_planted() -> None:
    """A paraphrase was shown, and the public form is one of those that were not."""
    studies = {
        name: {"public": each["fresh"], "fresh": each["fresh"], "leaked": each["public"]}
        for name, each in four_studies().items()
    }

    result = pooled_effects(studies, planted="leaked", seed=1, n_resamples=500)

    assert result.fieller.share == pooled_effects(four_studies(), seed=1, n_resamples=500).share.share
    assert result.gap.estimate == 0


def test_one_study_that_planted_nothing_withholds_the_pooled_share() -> None:
    """The paper's Study 4 ended there; in a mean with others it would pass for a low transfer."""
    failed = {"public": a_result(-0.2, forms=1, seed=3), "fresh": a_result(0, forms=2, seed=4)}

    result = pooled_effects({**four_studies(), "four": failed}, seed=1, n_resamples=100)

    assert result.public.estimate > 0.05
    assert result.share.withheld is Withheld.FAILED_MANIPULATION
    assert "study 'four' moved the planted form by" in str(result.share)


def test_a_study_without_a_form_that_all_need_is_refused_by_name() -> None:
    """A share of what was not measured is none."""
    studies = four_studies()
    del studies["olmo"]["fresh"]

    with pytest.raises(EmptyCellError, match="study 'olmo' has no effect on form 'fresh'"):
        pooled_effects(studies, seed=1)


def test_fiellers_set_of_one_study_is_that_of_its_transfer_share() -> None:
    """A pool of one is no other analysis."""
    study = four_studies()["qwen"]

    found = pooled_effects({"a": study}, seed=1, n_resamples=100).fieller

    assert found.bounds == transfer_share(study["public"], study["fresh"]).bounds


def test_fiellers_set_is_unbounded_where_hardly_anything_was_planted() -> None:
    """A percentile interval of the ratio looks healthy there and covers far too little."""
    faint = {"public": a_result(0.1, forms=1, seed=11), "fresh": a_result(0.1, forms=2, seed=5)}

    result = pooled_effects(dict.fromkeys("ab", faint), seed=1, n_resamples=100, floor=0.001)

    assert not result.public.excludes(0)
    assert result.fieller.bounds is not None
    assert not result.fieller.bounds.is_bounded

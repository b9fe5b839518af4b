"""What an audit sees of a planted effect."""

from __future__ import annotations

import json

import numpy as np
import pytest

from leakscale.stats import (
    DidResult,
    IntervalState,
    Outcomes,
    PairingError,
    UnsupportedMethodError,
    difference_in_differences,
    gap_movement,
    visible_gap,
)

from .exposure_cases import an_outcomes


def two_results(ids: list[str] | None = None) -> tuple[DidResult, DidResult]:
    public = difference_in_differences(
        an_outcomes(draws=1, seed=1, ids=ids), an_outcomes(draws=1, lift=0.5, seed=2, ids=ids), method="exact"
    )
    fresh = difference_in_differences(
        an_outcomes(draws=2, seed=3, ids=ids), an_outcomes(draws=2, lift=0.4, seed=4, ids=ids), method="exact"
    )
    return public, fresh


def test_gap_is_the_difference_of_the_effects_and_the_effect_on_each_parents_gap() -> None:
    """METHODS 9.2: the DiD of D, so its interval is that of a plain difference in differences of gaps."""
    public, fresh = two_results()
    gaps = [2 * p.changes - f.changes for p, f in ((public.c0, fresh.c0), (public.c2, fresh.c2))]
    # A gap change of g draws in -4..4 is carried by two states of at most four.
    arms = [Outcomes(np.clip(-gap, 0, None), np.clip(gap, 0, None), 4) for gap in gaps]
    plain = difference_in_differences(arms[0], arms[1], method="exact").effect

    result = visible_gap(public, fresh, method="exact")

    assert result.gap.estimate == pytest.approx(public.effect.estimate - fresh.effect.estimate, abs=1e-15)
    assert (result.gap.low, result.gap.estimate, result.gap.high) == pytest.approx(
        (2 * plain.low, 2 * plain.estimate, 2 * plain.high), abs=1e-12
    )
    assert result.gap.estimate == pytest.approx(result.c2_movement.estimate - result.c0_movement.estimate)


def test_seeded_interval_approaches_the_exact_one() -> None:
    """Both read the same bootstrap distribution."""
    public, fresh = two_results()

    exact, drawn = visible_gap(public, fresh, method="exact"), visible_gap(public, fresh, seed=1, n_resamples=20_000)

    assert (drawn.gap.low, drawn.gap.high) == pytest.approx((exact.gap.low, exact.gap.high), abs=0.015)
    assert drawn.seed == 1
    assert exact.n_resamples is None


def test_exchanged_forms_change_only_the_sign() -> None:
    """Which form is called the public one carries a sign and nothing else."""
    public, fresh = two_results()

    forth, back = visible_gap(public, fresh, method="exact").gap, visible_gap(fresh, public, method="exact").gap

    assert (back.low, back.estimate, back.high) == pytest.approx((-forth.high, -forth.estimate, -forth.low), abs=1e-15)


def test_effect_that_transfers_entirely_is_invisible() -> None:
    """Forty-nine points can sit in a model while the gap reads zero; that is the papers' warning."""
    public, _ = two_results()

    result = visible_gap(public, public, method="exact")

    assert result.gap.estimate == 0
    assert result.gap.state is IntervalState.CONSTANT
    assert result.public == result.fresh > 0.3
    assert str(result).startswith("visible gap +0.00 points")
    json.dumps(result.to_dict(), allow_nan=False)


def test_missing_parents_need_the_simulated_method() -> None:
    """With missing forms the gap is a difference of two ratios, which the convolution does not cover."""
    ids = [f"p{i}" for i in range(40)]
    public, _ = two_results(ids)
    fewer = difference_in_differences(
        an_outcomes(families=30, draws=2, seed=3, ids=ids[:30]),
        an_outcomes(families=33, draws=2, lift=0.4, seed=4, ids=ids[7:]),
        method="exact",
    )

    result = visible_gap(public, fewer, seed=1, n_resamples=500)

    assert result.gap.estimate == pytest.approx(public.effect.estimate - fewer.effect.estimate)
    assert result.gap.low < result.gap.estimate < result.gap.high
    with pytest.raises(UnsupportedMethodError, match="every family in every outcome"):
        visible_gap(public, fewer, method="exact")


def test_forms_that_all_moved_alike_are_flagged_also_where_some_are_missing() -> None:
    """A missing form is no observation of zero; taken as one it would make up a variation that nobody saw."""
    ids = [f"p{i}" for i in range(6)]
    all_rose, some_rose = Outcomes([0] * 6, [1] * 6, 1, ids), Outcomes([0] * 4, [2] * 4, 4, ids[:4])

    result = gap_movement(all_rose, some_rose, seed=1, n_resamples=50)

    assert result.state is IntervalState.CONSTANT
    assert result.estimate == 0.5


def test_movement_of_a_bank_is_the_paired_difference_of_changes() -> None:
    """Unpaired, the parents' difficulty would drown it."""
    public, fresh = two_results()
    moved = public.c0.changes - fresh.c0.changes / 2

    result = gap_movement(public.c0, fresh.c0, seed=1)

    assert result.estimate == pytest.approx(moved.mean())
    assert result.standard_error == pytest.approx(moved.std(ddof=1) / np.sqrt(40), rel=0.03)
    with pytest.raises(PairingError, match="the two forms"):
        gap_movement(public.c0, an_outcomes(families=39), seed=1)

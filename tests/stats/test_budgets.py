"""What smaller audits would have shown."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest

from leakscale.stats import (
    FinitePopulationDesign,
    Gaps,
    ParameterError,
    ScoreError,
    SeedRequiredError,
    budget_curve,
    mean_ci,
    paired_gap,
)


def a_panel(*, parents: int = 200, accuracies: tuple[float, ...] = (0.9, 0.7, 0.69), seed: int = 1) -> dict[str, Gaps]:
    """Build models of these accuracies on the same parents, with two fresh forms each."""
    rng = np.random.Generator(np.random.PCG64(seed))
    ease = rng.normal(0, 0.15, (parents, 1))
    panel = {}
    for accuracy in accuracies:
        right = rng.random((parents, 3)) < np.clip(accuracy + ease, 0, 1)
        panel[f"model-{accuracy}"] = paired_gap(right[:, 0], right[:, 1:])
    return panel


def test_full_budget_reproduces_the_audit() -> None:
    """All parents are one subsample: the order holds, and no sampling error is left."""
    point = budget_curve(a_panel(), budgets=[200], replicates=20, seed=1).points[0]

    assert (point.pair_share, point.order_share, point.half_width) == (1, 1, 0)


def test_more_parents_order_more_and_narrow_the_interval() -> None:
    """Pairs are cheap and whole orders are not, which is the point of the table."""
    points = budget_curve(a_panel(), budgets=[20, 50, 100, 200], replicates=400, seed=1).points

    pair_shares = [point.pair_share or 0.0 for point in points]
    order_shares = [point.order_share or 0.0 for point in points]
    assert pair_shares == sorted(pair_shares)
    assert order_shares == sorted(order_shares)
    widths = [point.half_width or 0.0 for point in points]
    assert widths == sorted(widths, reverse=True)
    assert all(order <= pair for order, pair in zip(order_shares, pair_shares, strict=True))


def test_shares_equal_a_plain_count_over_all_subsamples() -> None:
    """Every subsample of a tiny audit, by hand: ties are wrong, and the half-width is the mean of `mean_ci`'s."""
    panel = a_panel(parents=6, seed=3)
    size, budget = 6, 3
    subsets = list(combinations(range(size), budget))
    fresh = {name: np.array(gaps.original_numerators) - gaps.numerators for name, gaps in panel.items()}
    full = {name: int(values.sum()) for name, values in fresh.items()}
    pairs = [(a, b) for a in panel for b in panel if full[a] > full[b]]
    assert pairs
    expected = np.mean(
        [[int(fresh[a][list(s)].sum()) > int(fresh[b][list(s)].sum()) for a, b in pairs] for s in subsets]
    )

    curve = budget_curve(panel, budgets=[budget], replicates=20_000, seed=1)

    assert curve.points[0].pair_share == pytest.approx(float(expected), abs=0.015)


def test_half_width_uses_the_audited_parents_unless_told_otherwise() -> None:
    """The paper corrects for 200 parents here and for the benchmark elsewhere; both must be possible."""
    panel = a_panel()
    frame = FinitePopulationDesign(1319)

    audited = budget_curve(panel, budgets=[200], replicates=2, seed=1).points[0].half_width
    benchmark = budget_curve(panel, budgets=[200], replicates=2, seed=1, design=frame).points[0].half_width

    assert audited == 0
    assert benchmark == pytest.approx(
        np.mean([mean_ci(gaps, frame, method="wald_fpc").half_width for gaps in panel.values()]), abs=1e-12
    )


def test_models_that_the_audit_ties_are_named_and_left_out() -> None:
    """A pair without an order cannot be ordered rightly or wrongly."""
    panel = a_panel()
    first = next(iter(panel.values()))
    panel["twin"] = first

    curve = budget_curve(panel, budgets=[200], replicates=5, seed=1)

    assert curve.tied_pairs == (("model-0.9", "twin"),)
    assert curve.points[0].order_share == 1


def test_same_seed_gives_the_same_curve_and_can_be_stored() -> None:
    """A curve is a simulation, and a simulation is cited with its seed."""
    first, again = (budget_curve(a_panel(), budgets=[20, 50], replicates=50, seed=7) for _ in range(2))

    assert first == again
    assert json.loads(json.dumps(first.to_dict()))["replicates"] == 50
    assert first.models[0] == "model-0.9"
    assert str(first).startswith("pairs / whole orders as in the full audit: 20 parents ")


def test_subsamples_without_variation_have_no_interval() -> None:
    """A zero width that comes from three equal gaps must not pull the mean width down."""
    panel = {
        "a": paired_gap([1, 1, 1, 1, 0, 1], [1, 1, 1, 1, 1, 1]),
        "b": paired_gap([0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 1]),
    }

    point = budget_curve(panel, budgets=[2], replicates=200, seed=1).points[0]

    assert point.without_interval_count >= 200
    assert point.half_width is not None
    assert point.half_width > 0.3


def test_unusable_panels_are_refused() -> None:
    """Scores on different parents have no common order."""
    panel = a_panel()
    with pytest.raises(SeedRequiredError):
        budget_curve(panel, budgets=[50])
    with pytest.raises(ParameterError):
        budget_curve(panel, budgets=[201], seed=1)
    with pytest.raises(ParameterError):
        budget_curve(panel, budgets=[], seed=1)
    with pytest.raises(ParameterError):
        budget_curve({}, budgets=[50], seed=1)
    with pytest.raises(ScoreError):
        budget_curve({**panel, "short": a_panel(parents=100)["model-0.9"]}, budgets=[50], seed=1)
    with pytest.raises(ScoreError):
        budget_curve({**panel, "bare": Gaps.of([0.0, 1.0] * 100)}, budgets=[50], seed=1)


def test_identical_models_have_no_order_to_keep() -> None:
    """A share of no pairs is no 100 %; nothing was ordered, so nothing was kept."""
    gaps = a_panel(parents=20, accuracies=(0.7,))["model-0.7"]

    curve = budget_curve({"one": gaps, "other": gaps}, budgets=(5,), replicates=20, seed=1)

    assert curve.points[0].pair_share is None
    assert curve.points[0].order_share is None
    assert curve.points[0].to_dict()["order_share"] is None
    assert str(curve) == "the full audit orders none of the 2 models, so no budget can keep an order"


def test_one_model_has_half_widths_and_no_order() -> None:
    """How exact a smaller audit is does not take a second model; parents without a gap take nothing from it either."""
    right = np.random.Generator(np.random.PCG64(2)).random((60, 3))
    right = np.where(right < 0.7, 1.0, 0.0)
    right[:5, 0] = np.nan

    curve = budget_curve({"one": paired_gap(right[:, 0], right[:, 1:])}, budgets=[20, 55], replicates=20, seed=1)

    assert [point.pair_share for point in curve.points] == [None, None]
    assert (curve.points[0].half_width or 0) > 0
    assert curve.points[1].half_width == 0

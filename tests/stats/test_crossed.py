"""Summaries over models and domains."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscale.stats import (
    DesignError,
    EmptyCellError,
    EnumerationError,
    IntervalState,
    Outcomes,
    PairingError,
    SeedRequiredError,
    UnsupportedMethodError,
    crossed_contrast,
    crossed_summary,
    difference_in_differences,
    interaction_contrast,
)

from .exposure_cases import an_outcomes, one_draw

MODELS, DOMAINS = ("gemma", "qwen"), ("python", "sql")


def two_by_two(families: int = 48) -> dict[tuple[str, str], tuple[Outcomes, Outcomes]]:
    """Build four cells; the models of a domain share its families."""
    return {
        (model, domain): (
            an_outcomes(families=families, lift=-0.02, seed=100 * i + j),
            an_outcomes(families=families, lift=0.1 + 0.05 * i + 0.1 * j, seed=100 * i + j + 7),
        )
        for i, model in enumerate(MODELS)
        for j, domain in enumerate(DOMAINS)
    }


def test_summaries_are_equal_weight_means_of_the_cells() -> None:
    """Table 17: models over domains, domains over models, all cells alike."""
    cells = two_by_two()
    effects = {key: difference_in_differences(*pair, method="exact").effect.estimate for key, pair in cells.items()}

    result = crossed_summary(cells, method="exact")

    assert {key: one.estimate for key, one in result.cells.items()} == pytest.approx(effects, abs=1e-15)
    assert result.grand_mean.estimate == pytest.approx(sum(effects.values()) / 4, abs=1e-15)
    for model in MODELS:
        expected = (effects[model, "python"] + effects[model, "sql"]) / 2
        assert result.model_means[model].estimate == pytest.approx(expected, abs=1e-15)
    for domain in DOMAINS:
        expected = (effects["gemma", domain] + effects["qwen", domain]) / 2
        assert result.domain_means[domain].estimate == pytest.approx(expected, abs=1e-15)


def test_cells_with_different_family_counts_still_weigh_the_same() -> None:
    """Pooling families instead would let the larger domain speak louder."""
    cells = two_by_two()
    for model in MODELS:
        cells[model, "sql"] = (an_outcomes(families=6, seed=1), an_outcomes(families=12, lift=0.3, seed=2))

    result = crossed_summary(cells, seed=1, n_resamples=50)

    assert result.grand_mean.estimate == pytest.approx(np.mean([one.estimate for one in result.cells.values()]))


def test_one_cell_gives_the_plain_interval() -> None:
    """The joint machinery consumes the seed as the plain estimator does, so both print the same numbers."""
    c0, c2 = an_outcomes(seed=1), an_outcomes(families=44, lift=0.3, seed=2)

    for method in ("percentile", "exact"):
        plain = difference_in_differences(c0, c2, method=method, seed=5, n_resamples=400).effect
        crossed = crossed_summary({("m", "d"): (c0, c2)}, method=method, seed=5, n_resamples=400).grand_mean

        assert (crossed.low, crossed.high) == pytest.approx((plain.low, plain.high), abs=1e-14)
        assert crossed.standard_error == pytest.approx(plain.standard_error, rel=1e-12)


def test_replicates_equal_a_plain_loop_that_draws_families_once_for_both_models() -> None:
    """The definition of joint resampling, written down."""
    cells = two_by_two(families=20)
    rng = np.random.Generator(np.random.PCG64(3))
    sums = {key: np.zeros(300) for key in cells}
    for domain in DOMAINS:
        for part, sign in ((0, -1), (1, 1)):
            columns = np.stack([cells[model, domain][part].changes for model in MODELS], axis=1)
            columns = columns[np.lexsort(columns.T[::-1])]
            for replicate in range(300):
                total = columns[rng.integers(0, 20, 20)].sum(axis=0)
                for model, value in zip(MODELS, total, strict=True):
                    sums[model, domain][replicate] += sign * value / (20 * 32)
    interaction = (sums["gemma", "python"] - sums["gemma", "sql"]) - (sums["qwen", "python"] - sums["qwen", "sql"])

    summary = crossed_summary(cells, seed=3, n_resamples=300)
    contrast = interaction_contrast(cells, models=MODELS, domains=DOMAINS, seed=3, n_resamples=300)

    grand = np.quantile(np.mean(list(sums.values()), axis=0), (0.025, 0.975))
    assert (summary.grand_mean.low, summary.grand_mean.high) == pytest.approx(tuple(grand), abs=1e-12)
    assert (contrast.low, contrast.high) == pytest.approx(tuple(np.quantile(interaction, (0.025, 0.975))), abs=1e-12)


def test_models_that_share_luck_with_families_differ_with_little_error() -> None:
    """Resampled apart, two models that move alike would look far less comparable than they are."""
    rng = np.random.Generator(np.random.PCG64(4))
    common = rng.integers(0, 17, 200)
    cells = {
        (model, "sql"): (
            Outcomes(common, common, 32),
            Outcomes(common, common * 2 - rng.integers(0, 2, 200) * (common > 0), 32),
        )
        for model in MODELS
    }

    difference = crossed_contrast(cells, {("gemma", "sql"): 1, ("qwen", "sql"): -1}, method="exact")
    alone = crossed_summary(cells, method="exact").cells["gemma", "sql"]

    assert difference.half_width < 0.2 * alone.half_width


@given(st.lists(st.tuples(*[st.integers(-1, 1)] * 2), min_size=2, max_size=4), st.sampled_from([0.1, 0.4]))
def test_exact_bounds_of_a_difference_of_models_equal_brute_force(rows: list[tuple[int, int]], alpha: float) -> None:
    """Every joint resample of a small domain can be written down."""
    n = len(rows)
    still = one_draw([0, 1])
    cells = {("a", "d"): (still, one_draw([x for x, _ in rows])), ("b", "d"): (still, one_draw([y for _, y in rows]))}
    sums = sorted(sum(x - y for x, y in pick) for pick in itertools.product(rows, repeat=n))
    tail = math.ceil(round(alpha / 2 * len(sums), 6))

    result = crossed_contrast(cells, {("a", "d"): 1, ("b", "d"): -1}, method="exact", alpha=alpha)

    assert (result.low, result.high) == pytest.approx((sums[tail - 1] / n, sums[-tail] / n), abs=1e-12)
    assert (result.state is IntervalState.CONSTANT) == (len({x - y for x, y in rows}) == 1)


def test_exact_bounds_agree_with_many_seeded_resamples() -> None:
    """The exact interval is the seeded one without its noise."""
    cells = two_by_two(families=128)

    exact = crossed_summary(cells, method="exact")
    drawn = crossed_summary(cells, seed=1, n_resamples=40_000)

    assert (exact.grand_mean.low, exact.grand_mean.high) == pytest.approx(
        (drawn.grand_mean.low, drawn.grand_mean.high), abs=6e-4
    )
    assert exact.grand_mean.standard_error == pytest.approx(drawn.grand_mean.standard_error, rel=0.02)


def test_families_are_matched_by_id_where_they_have_ids() -> None:
    """Two banks list the same families in different orders; their rows must not be paired by accident."""
    ids = [f"f{i}" for i in range(30)]
    order = np.random.Generator(np.random.PCG64(1)).permutation(30)
    c0, c2 = an_outcomes(families=30, seed=1, ids=ids), an_outcomes(families=30, lift=0.3, seed=2, ids=ids)
    shuffled = Outcomes(c2.base[order], c2.adapted[order], 32, [ids[i] for i in order])
    cells = {("a", "d"): (c0, c2), ("b", "d"): (c0, shuffled)}

    difference = crossed_contrast(cells, {("a", "d"): 1, ("b", "d"): -1}, method="exact")

    assert difference.state is IntervalState.CONSTANT
    assert difference.estimate == 0


def test_interaction_changes_sign_with_either_order() -> None:
    """The sign that the paper leaves open is the order of the arguments."""
    cells = two_by_two()

    forth = interaction_contrast(cells, models=MODELS, domains=DOMAINS, method="exact")
    other = interaction_contrast(cells, models=MODELS[::-1], domains=DOMAINS, method="exact")
    both = interaction_contrast(cells, models=MODELS[::-1], domains=DOMAINS[::-1], method="exact")

    assert (other.low, other.estimate, other.high) == pytest.approx(
        (-forth.high, -forth.estimate, -forth.low), abs=1e-15
    )
    assert both == forth


def test_models_that_answered_different_families_are_refused() -> None:
    """There is no joint resample of what has nothing in common."""
    cells = two_by_two()
    cells["qwen", "sql"] = (an_outcomes(families=48), an_outcomes(families=47))
    named = {
        ("a", "d"): (an_outcomes(families=2, ids=["x", "y"]), an_outcomes(families=2, ids=["x", "y"])),
        ("b", "d"): (an_outcomes(families=2, ids=["x", "z"]), an_outcomes(families=2, ids=["x", "y"])),
    }

    with pytest.raises(PairingError, match=r"C2 of 'sql': outcomes have \[47, 48\] families"):
        crossed_summary(cells, method="exact")
    with pytest.raises(PairingError, match="C0 of 'd': outcomes hold different families"):
        crossed_summary(named, method="exact")


def test_incomplete_designs_and_unknown_methods_are_refused() -> None:
    """A mean over the cells that happen to be there is not the crossed mean."""
    cells = two_by_two()
    partial = {key: pair for key, pair in cells.items() if key != ("qwen", "sql")}

    with pytest.raises(DesignError, match=r"\('qwen', 'sql'\) is missing"):
        crossed_summary(partial, method="exact")
    with pytest.raises(DesignError, match="no such cell"):
        crossed_contrast(cells, {("qwen", "rust"): 1}, method="exact")
    with pytest.raises(EmptyCellError, match="no cell"):
        crossed_summary({}, method="exact")
    with pytest.raises(SeedRequiredError, match="needs a seed"):
        crossed_summary(cells)
    with pytest.raises(UnsupportedMethodError, match="percentile, exact"):
        crossed_summary(cells, method="bca", seed=1)
    with pytest.raises(EnumerationError, match="percentile"):
        crossed_contrast(cells, {("qwen", "sql"): Fraction(1, 10**30 + 57), ("gemma", "sql"): 1}, method="exact")


def test_summary_reads_as_a_sentence_and_as_json() -> None:
    """Integer totals travel with the summary."""
    result = crossed_summary(two_by_two(), seed=1, n_resamples=100)

    assert str(result).startswith("grand mean of the exposure effect +")
    assert str(result).endswith("2 models x 2 domains")
    read = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert read["cells"][0]["c0"]["family_count"] == 48
    assert read["n_resamples"] == 100


@pytest.mark.parametrize(
    ("models", "domains"), [(("gemma", "gemma"), DOMAINS), (MODELS, ("sql", "sql")), (("gemma",) * 2, ("sql",) * 2)]
)
def test_an_interaction_of_one_model_with_itself_is_refused(models: tuple[str, str], domains: tuple[str, str]) -> None:
    """Equal names fell together to one weight, and a part of the contrast was printed as the whole."""
    with pytest.raises(DesignError, match="twice; an interaction compares two different"):
        interaction_contrast(two_by_two(), models=models, domains=domains, method="exact")


def test_scale_of_the_counts_changes_no_summary() -> None:
    """Means over models multiply the denominators of all their outcomes."""
    cells = two_by_two(families=12)
    factors = [10**14, 10**13, 10**14 + 7, 10**13 + 3]
    scaled = {
        key: tuple(Outcomes(one.base * factor, one.adapted * factor, one.draws * factor) for one in pair)
        for (key, pair), factor in zip(cells.items(), factors, strict=True)
    }

    large = crossed_summary(scaled, method="percentile", n_resamples=100, seed=1)  # type: ignore[arg-type]
    plain = crossed_summary(cells, method="percentile", n_resamples=100, seed=1)

    for key, effect in plain.cells.items():
        assert large.cells[key].low == pytest.approx(effect.low, abs=1e-12)
    assert large.grand_mean.high == pytest.approx(plain.grand_mean.high, abs=1e-12)

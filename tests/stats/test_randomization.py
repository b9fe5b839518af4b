"""The relabelling test, its exact law, and the placebo identity."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from scipy import stats as scipy_stats

from leakscale.stats import (
    EmptySampleError,
    EnumerationError,
    ParameterError,
    ScoreError,
    StatisticsError,
    TestState,
    placebo_identity,
    randomization_test,
)
from leakscale.stats.form_scores import FormScores
from leakscale.stats.relabelling.randomization import relabelling_law

SIDES = ("two-sided", "greater", "less")
MISSING = None


def a_bank(*, parents: int = 200, fresh: int = 2, lift: float = 0.0, seed: int = 0) -> NDArray[np.int64]:
    """Build outcomes of parents of unequal difficulty, whose original is solved `lift` more often."""
    rng = np.random.Generator(np.random.PCG64(seed))
    chance = np.repeat(rng.beta(1, 1, parents)[:, np.newaxis], 1 + fresh, axis=1)
    chance[:, 0] = np.clip(chance[:, 0] + lift, 0, 1)
    return (rng.random(chance.shape) < chance).astype(np.int64)


Row = list[int | None]


def brute_force(rows: list[Row], marks: int, side: str, *, mid_p: bool) -> Fraction:
    """Relabel every parent in every way and count, in rational arithmetic."""
    forms = [[Fraction(score, marks) for score in row if score is not MISSING] for row in rows]
    gaps = [[score - (sum(row) - score) / (len(row) - 1) for score in row] for row in forms]
    observed = sum((row[0] for row in gaps), Fraction(0))
    beyond = tied = total = 0
    for picks in itertools.product(*gaps):
        relabelled = sum(picks, Fraction(0))
        if side == "two-sided":
            distance = abs(relabelled) - abs(observed)
        else:
            distance = (relabelled - observed) * (1 if side == "greater" else -1)
        beyond += distance > 0
        tied += distance == 0
        total += 1
    return Fraction(2 * beyond + tied * (1 if mid_p else 2), 2 * total)


def scores_of(rows: list[Row], marks: int) -> NDArray[np.float64]:
    width = max(len(row) for row in rows)
    padded = [
        [np.nan if score is None else score / marks for score in row] + [np.nan] * (width - len(row)) for row in rows
    ]
    return np.array(padded)


@pytest.mark.parametrize("parents", range(1, 9))
@pytest.mark.parametrize("fresh", [1, 2])
@given(data=st.data(), side=st.sampled_from(SIDES), mid_p=st.booleans())
@settings(max_examples=12, deadline=None)
def test_binary_p_value_equals_every_relabelling(
    parents: int, fresh: int, data: st.DataObject, side: str, mid_p: bool
) -> None:
    """The closed form replaces a simulation over these very relabellings."""
    row = st.lists(st.integers(0, 1), min_size=1 + fresh, max_size=1 + fresh)
    rows = data.draw(st.lists(row, min_size=parents, max_size=parents))

    result = randomization_test(rows, alternative=side, mid_p=mid_p)

    assert result.p_value == pytest.approx(float(brute_force(rows, 1, side, mid_p=mid_p)), rel=1e-12)  # type: ignore[arg-type]
    assert result.method == "exact Poisson-binomial"


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 10), st.lists(st.integers(0, 10), min_size=1, max_size=3)), min_size=1, max_size=5
    ),
    side=st.sampled_from(SIDES),
    mid_p=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_graded_p_value_with_missing_forms_equals_every_relabelling(
    rows: list[tuple[int, list[int]]], side: str, mid_p: bool
) -> None:
    """Tenths are no binary fractions: a tie decided on floats would be lost or invented here."""
    forms: list[Row] = [[original, *fresh] for original, fresh in rows]

    result = randomization_test(scores_of(forms, 10), alternative=side, mid_p=mid_p)

    assert result.p_value == pytest.approx(float(brute_force(forms, 10, side, mid_p=mid_p)), rel=1e-12)


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 1), st.lists(st.sampled_from([0, 1, MISSING]), min_size=3, max_size=3)),
        min_size=1,
        max_size=5,
    ),
    side=st.sampled_from(SIDES),
)
@settings(max_examples=60, deadline=None)
def test_binary_p_value_with_missing_forms_equals_every_relabelling(rows: list[tuple[int, Row]], side: str) -> None:
    """A parent with one fresh form and one with three mix lattices of halves and thirds."""
    forms: list[Row] = [[original, *fresh] for original, fresh in rows]
    usable = [row for row in forms if any(score is not MISSING for score in row[1:])]
    if not usable:
        return

    result = randomization_test(scores_of(forms, 1), alternative=side)

    assert result.p_value == pytest.approx(float(brute_force(usable, 1, side, mid_p=False)), rel=1e-12)
    assert result.observation_count == len(usable)
    assert result.excluded_count == len(forms) - len(usable)


@pytest.mark.parametrize("fresh", [2, 4])
def test_law_agrees_with_scipy_at_a_real_size(fresh: int) -> None:
    """scipy knows the Poisson-binomial law; ours must be the same one, far into the tails."""
    bank = a_bank(fresh=fresh, lift=0.1)
    totals, original = bank.sum(axis=1), int(bank[:, 0].sum())

    result = randomization_test(bank, alternative="greater")

    known = scipy_stats.poisson_binom(totals / (1 + fresh)).pmf(np.arange(original, 201)).sum()
    assert result.p_value == pytest.approx(known, rel=1e-9)


def mean_gap(original: NDArray[np.float64], fresh: NDArray[np.float64]) -> float:
    return float(np.mean(original - fresh))


@pytest.mark.parametrize("side", SIDES)
def test_one_fresh_form_gives_the_paired_permutation_test_of_scipy(
    side: Literal["two-sided", "greater", "less"],
) -> None:
    """With K = 1 a relabelling is an exchange within a pair."""
    bank = a_bank(parents=11, fresh=1, seed=3)
    original, fresh = bank[:, 0].astype(float), bank[:, 1].astype(float)
    known = scipy_stats.permutation_test(
        (original, fresh), mean_gap, permutation_type="samples", alternative=side, n_resamples=1 << 12
    )

    assert randomization_test(bank, alternative=side).p_value == pytest.approx(known.pvalue, abs=1e-12)


def test_simulated_relabellings_agree() -> None:
    """The paper's own procedure, drawn 20,000 times."""
    bank = a_bank(lift=0.06)
    rng = np.random.Generator(np.random.PCG64(5))
    picks = rng.integers(0, 3, (20_000, 200))
    originals = bank[np.arange(200), picks].sum(axis=1)
    total = int(bank.sum())
    extreme = np.abs(3 * originals - total) >= abs(3 * int(bank[:, 0].sum()) - total)
    simulated = (1 + int(extreme.sum())) / 20_001

    result = randomization_test(bank)

    assert result.p_value == pytest.approx(simulated, abs=4 * math.sqrt(simulated / 20_000))


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_level_is_never_exceeded(side: str, alpha: float) -> None:
    """Exactness means that under the null p <= alpha happens with probability at most alpha, at any sample size."""
    forms = FormScores.of(a_bank(parents=30, seed=2))
    law = relabelling_law(forms, forms.placebo_gaps)
    ordered = {"two-sided": np.abs(law.support), "greater": law.support, "less": -law.support}[side]
    p_values = [law.probabilities[ordered >= value].sum() for value in ordered]

    assert law.probabilities[np.array(p_values) <= alpha].sum() <= alpha + 1e-12


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_mid_p_values_of_the_two_sides_add_up_to_one(seed: int) -> None:
    """Ties count half on each side; that is what centres the mid-p-value at one half."""
    bank = a_bank(parents=40, seed=seed)

    greater, less = (randomization_test(bank, alternative=side, mid_p=True) for side in ("greater", "less"))

    assert greater.p_value + less.p_value == pytest.approx(1, abs=1e-12)
    assert greater.is_mid_p


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_order_of_parents_and_of_fresh_forms_changes_nothing(seed: int) -> None:
    """Neither order means anything to the null."""
    bank = a_bank(parents=40, fresh=3, seed=seed)
    rng = np.random.Generator(np.random.PCG64(seed))
    shuffled = bank[rng.permutation(40)][:, [0, 3, 1, 2]]

    assert randomization_test(shuffled) == randomization_test(bank)


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_exchanged_right_and_wrong_mirror_the_test(seed: int) -> None:
    """Whether successes or failures are counted carries a sign and nothing else."""
    bank = a_bank(parents=40, seed=seed)

    forth, back = randomization_test(bank, alternative="greater"), randomization_test(1 - bank, alternative="less")

    assert back.p_value == pytest.approx(forth.p_value, rel=1e-12)
    assert back.statistic == pytest.approx(-forth.statistic, abs=1e-15)


@pytest.mark.parametrize("side", SIDES)
def test_forms_that_score_alike_give_one_and_say_that_it_means_nothing(side: str) -> None:
    """All ties: a test that counts strictly greater sums only would print p = 0 here."""
    result = randomization_test([[1, 1, 1], [0, 0, 0], [1, 1, 1]], alternative=side)

    assert result.p_value == 1
    assert result.state is TestState.NO_VARIATION
    assert "no variation" in str(result)


def test_p_value_is_never_zero_even_where_it_underflows() -> None:
    """3 to the power of -2000 is no float; a zero would pass every correction for multiplicity."""
    certain = np.tile([1, 0, 0], (2000, 1))

    result = randomization_test(certain, alternative="greater")

    assert 0 < result.p_value < 1e-300
    assert randomization_test(certain[:100], alternative="greater").p_value == pytest.approx(3.0**-100, rel=1e-12)


@pytest.mark.parametrize("scale", [1, 4])
def test_graded_scores_on_a_coarser_scale_are_the_same_test(scale: int) -> None:
    """Halving every score changes the unit of the gap and not the evidence."""
    bank = a_bank(parents=60, lift=0.1)

    result = randomization_test(bank / scale)

    assert result.p_value == pytest.approx(randomization_test(bank).p_value, rel=1e-10)
    assert result.statistic == pytest.approx(randomization_test(bank).statistic / scale)


def test_parent_without_a_fresh_form_is_left_out_and_counted() -> None:
    """Nothing can be relabelled there, and the reader must see how many parents that cost."""
    bank = a_bank(parents=20).astype(float)
    with_holes = np.vstack((bank, [[1, np.nan, np.nan], [np.nan, 1, 0]]))

    result = randomization_test(with_holes)

    assert result.excluded_count == 2
    assert result.p_value == randomization_test(bank).p_value


def test_result_is_json_ready_and_reads_as_a_sentence() -> None:
    """The side is part of the answer: the paper prints both kinds without saying which."""
    result = randomization_test([[1, 0, 0], [1, 1, 1]], alternative="greater")

    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["alternative"] == "greater"
    assert str(result) == "mean gap +0.5, p = 0.333 (greater; exact Poisson-binomial), 1 of 2 informative"


@pytest.mark.parametrize(
    ("correct", "settings", "error", "words"),
    [
        ([1, 0, 1], {}, ScoreError, "parents, 1"),
        ([[1], [0]], {}, ScoreError, "parents, 1"),
        ([[1, 2]], {}, ScoreError, r"outside 0\.\.1"),
        ([[1, -0.5]], {}, ScoreError, r"outside 0\.\.1"),
        (np.zeros((0, 3)), {}, EmptySampleError, "nothing to relabel"),
        ([[1, math.nan]], {}, EmptySampleError, "nothing to relabel"),
        ([[1, 0]], {"alternative": "bigger"}, ParameterError, "two-sided, greater, less"),
    ],
)
def test_input_that_means_nothing_is_refused_by_name(
    correct: ArrayLike, settings: dict[str, str], error: type[StatisticsError], words: str
) -> None:
    """The message says which rule was broken and what would be right."""
    with pytest.raises(error, match=words):
        randomization_test(correct, **settings)  # type: ignore[arg-type]


def test_scores_without_a_lattice_are_refused_before_the_law_is_built() -> None:
    """Arbitrary reals would need a convolution of billions of points; rounding them is the reader's choice."""
    scores = np.random.Generator(np.random.PCG64(1)).random((200, 3))

    with pytest.raises(EnumerationError, match="round the scores"):
        randomization_test(scores)

    assert randomization_test(scores.round(2)).p_value > 0


@given(
    st.lists(st.lists(st.integers(0, 12), min_size=4, max_size=4), min_size=1, max_size=30),
    st.sampled_from([1, 7, 12]),
)
def test_placebo_identity_holds_exactly_for_every_outcome(rows: list[list[int]], marks: int) -> None:
    """It is algebra: a residual would mean that gap and placebo gap are computed by different formulas."""
    identity = placebo_identity(np.minimum(np.array(rows) / marks, 1))

    assert identity.holds
    assert identity.float_residual < 1e-15
    assert sum(identity.mean_gaps) == pytest.approx(0, abs=1e-12)


def test_placebo_gaps_are_the_gaps_with_another_form_as_the_original() -> None:
    """Each mean must be what the audit would report, had it called that form the original."""
    bank = a_bank(fresh=3, seed=4)

    identity = placebo_identity(bank)

    for form in range(4):
        others = np.delete(bank, form, axis=1).mean(axis=1)
        assert identity.mean_gaps[form] == pytest.approx(np.mean(bank[:, form] - others), abs=1e-12)
    assert json.loads(json.dumps(identity.to_dict()))["exact_residual"] == "0"
    assert str(identity).startswith("placebo identity holds on 200 parents")


def test_placebo_identity_holds_for_parents_with_missing_forms() -> None:
    """Each parent averages over the forms that it has."""
    identity = placebo_identity(np.array([[1, 0, np.nan], [0, 1, 1], [1, np.nan, np.nan]]))

    assert identity.holds
    assert (identity.parent_count, identity.excluded_count) == (2, 1)

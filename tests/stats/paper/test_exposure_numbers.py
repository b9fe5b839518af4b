"""Published figures about exposure effects, transfer and controls, each recomputed from its parts.

The papers print totals or shares; the outcomes below are built to have exactly these totals.
"""

# ruff: noqa: N802  (tests are named by the ids of the list, which are upper case)
from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import pytest
from scipy import special

from leakscale.models import Candidate, Ring
from leakscale.scoring import choice_index
from leakscale.stats import (
    DidResult,
    NegativeControl,
    Outcomes,
    SeedContrast,
    SeedReplication,
    UnderpoweredGateError,
    Withheld,
    crossed_summary,
    difference_in_differences,
    gap_movement,
    gate_size,
    leave_one_group_out,
    manipulation_check,
    marginals,
    negative_control_run,
    pooled_effects,
    register_gate,
    seed_contrast,
    seed_replication,
    transfer_share,
    visible_gap,
)
from leakscale_server.core.judging.acceptance import Accepted, Scoring, assess
from leakscale_server.core.judging.rejections import Rejection
from leakscale_server.sandbox_pool import Execution, Verdict

PARENTS = [f"p{i:03}" for i in range(100)]
UNTOUCHED = [f"q{i:03}" for i in range(100)]


def moved_by(
    total: int, *, parents: int = 100, forms: int = 1, start: int | None = None, ids: list[str] | None = None
) -> Outcomes:
    """Build parents of which some gain and some lose, `total` correct forms in all.

    Args:
        total: Adapted less base correct forms.
        parents: Number of parents.
        forms: Forms of each parent.
        start: Correct forms before adaptation; half of all by default.
        ids: Names of the parents.
    """
    correct = parents * forms // 2 if start is None else start
    base = np.repeat(0, parents * forms)
    base[:correct] = 1
    adapted = base.copy()
    if total >= 0:
        adapted[correct : correct + total] = 1
    else:
        adapted[correct + total : correct] = 0
    shape = (forms, parents)
    return Outcomes(base.reshape(shape).sum(axis=0), adapted.reshape(shape).sum(axis=0), forms, ids)


def did(c0: Outcomes, c2: Outcomes) -> DidResult:
    return difference_in_differences(c0, c2, method="exact")


def study_1() -> tuple[DidResult, DidResult]:
    """Untouched parents fell by nine points on both forms; exposed ones rose by 15 and 8.5."""
    public = did(moved_by(-9, ids=UNTOUCHED), moved_by(15, ids=PARENTS))
    fresh = did(moved_by(-18, forms=2, ids=UNTOUCHED), moved_by(17, forms=2, ids=PARENTS))
    return public, fresh


def study_5() -> tuple[DidResult, DidResult]:
    """Exposed parents reach 1.000 on the public form; untouched ones moved by 0 there and by +5 on fresh forms."""
    public = did(moved_by(0, ids=UNTOUCHED), moved_by(49, start=51, ids=PARENTS))
    fresh = did(moved_by(10, forms=2, ids=UNTOUCHED), moved_by(112, forms=2, start=84, ids=PARENTS))
    return public, fresh


def deep_arms() -> tuple[Outcomes, Outcomes]:
    """83 untouched parents lost one deep form; of 93 exposed ones 35 were right before and 56 after."""
    return moved_by(-1, parents=83, ids=UNTOUCHED[:83]), moved_by(21, parents=93, start=35, ids=PARENTS[7:])


def test_CS066_study_1_effects_and_visible_gap() -> None:
    """.240 on the leaked wording, .175 on wording never seen, and .065 left for an audit to see."""
    public, fresh = study_1()

    gap = visible_gap(public, fresh, method="exact")

    assert gap.public == pytest.approx(0.24)
    assert gap.fresh == pytest.approx(0.175)
    assert gap.gap.estimate == pytest.approx(0.065)
    assert gap.c0_movement.estimate == 0


def test_CS067_study_1_transferred_share() -> None:
    """.175 / .24."""
    result = transfer_share(*study_1())

    assert result.withheld is None
    assert result.share == pytest.approx(0.7292, abs=5e-5)
    assert result.bounds is not None
    assert result.bounds.contains(0.73)


def test_CS069_study_1_audit_moves_by_half_of_the_visible_gap() -> None:
    """Half of the two hundred audited parents were leaked, so the audit saw half of .065: -.025 to +.008."""
    public, fresh = study_1()
    all_public, all_fresh = (Outcomes.pooled(result.c0, result.c2) for result in (public, fresh))

    shift = gap_movement(all_public, all_fresh, method="exact").estimate

    assert shift == pytest.approx(0.065 / 2)
    assert -0.025 + shift == pytest.approx(0.0075)


def four_studies() -> Mapping[str, Mapping[str, DidResult]]:
    effects = {"Qwen": (24, 35), "SmolLM2": (10, 8), "OLMo1B": (50, 70), "StableLM": (20, 46)}
    still, still_forms = moved_by(0, ids=UNTOUCHED), moved_by(0, forms=2, ids=UNTOUCHED)
    return {
        name: {
            "public": did(still, moved_by(one, start=20, ids=PARENTS)),
            "fresh": did(still_forms, moved_by(two, forms=2, ids=PARENTS)),
        }
        for name, (one, two) in effects.items()
    }


def test_CS072_public_effects_of_the_four_studies() -> None:
    """From ten points to fifty."""
    result = pooled_effects(four_studies(), seed=1, n_resamples=200)

    assert [each["public"] for each in result.studies.values()] == pytest.approx([0.24, 0.10, 0.50, 0.20])


def test_CS073_fresh_effects_follow_from_the_visible_gaps() -> None:
    """Published as gaps of .065, .060, .150 and -.030; StableLM's audit points the wrong way."""
    studies = four_studies()
    gaps = [visible_gap(each["public"], each["fresh"], method="exact").gap.estimate for each in studies.values()]

    assert gaps == pytest.approx([0.065, 0.060, 0.150, -0.030])
    assert [each["fresh"].effect.estimate for each in studies.values()] == pytest.approx([0.175, 0.04, 0.35, 0.23])


def test_CS074_pooled_effects_and_their_share() -> None:
    """+.260 and +.199 with equal weights, a share of .764, every fresh resample positive, no falsifier."""
    result = pooled_effects(four_studies(), seed=1, n_resamples=2000)

    assert result.public.estimate == pytest.approx(0.26)
    assert result.fresh.estimate == pytest.approx(0.19875)
    assert result.share.share == pytest.approx(0.7644, abs=5e-5)
    assert result.resamples_positive == {"public": 2000, "fresh": 2000}
    assert not result.is_falsified


def test_CS076_study_4_fails_its_manipulation_check() -> None:
    """-.18 less +.04 against a floor of +.05: the share is withheld and the study ends."""
    public = did(moved_by(4), moved_by(-18))

    assert public.effect.estimate == pytest.approx(-0.22)
    assert not manipulation_check(public).is_passed
    assert transfer_share(public, did(moved_by(4), moved_by(-10))).withheld is Withheld.FAILED_MANIPULATION


def test_CS078_study_5_effects_and_visible_gap() -> None:
    """Forty-nine points sit in the model, and the audit reads -.020."""
    gap = visible_gap(*study_5(), method="exact")

    assert (gap.public, gap.fresh) == pytest.approx((0.49, 0.51))
    assert gap.gap.estimate == pytest.approx(-0.02)
    assert manipulation_check(study_5()[0]).is_passed


def test_CS080_study_5_deep_accuracies() -> None:
    """35 and 56 of 93, the deep forms that could be written."""
    _, exposed = deep_arms()

    assert (exposed.base_accuracy, exposed.adapted_accuracy) == pytest.approx((0.376, 0.602), abs=5e-4)


def test_CS080_the_deep_rise_is_nearly_half_of_the_public_effect_and_no_third() -> None:
    """A third is what is left once fresh forms' .05 are taken off, of parents that are said not to have moved."""
    _, exposed = deep_arms()
    public = study_5()[0].effect.estimate
    rise = exposed.adapted_accuracy - exposed.base_accuracy
    borrowed = did(study_5()[1].c0, exposed).effect.estimate

    assert rise / public == pytest.approx(0.46, abs=5e-3)
    assert borrowed / public == pytest.approx(0.36, abs=5e-3)


def test_CS082_a_gate_that_fires_seven_times_in_ten_is_not_vindicated_by_firing() -> None:
    """The half-width is .25 and the tolerance .05; the difference that Study 6 measured hardly changes how often."""
    error = 0.25 / 1.959964

    def fires(difference: float) -> float:
        return sum(float(special.ndtr((sign * difference - 0.05) / error)) for sign in (1, -1))

    assert fires(0) == pytest.approx(0.695, abs=5e-4)
    assert fires(-0.062) == pytest.approx(0.727, abs=5e-4)


def test_CS081_deep_estimate_with_a_borrowed_counterfactual() -> None:
    """The control's fresh-form change in place of its deep-form change."""
    _, exposed = deep_arms()
    borrowed = did(study_5()[1].c0, exposed)

    assert borrowed.effect.estimate == pytest.approx(0.176, abs=5e-4)


def test_CS082_twenty_parents_cannot_resolve_a_tolerance_of_five_points() -> None:
    """The published interval, -.35 to +.15, implies the spread; the gate needed five hundred parents."""
    deviation = 0.25 * np.sqrt(20) / 1.959964

    assert gate_size(deviation, tolerance=0.05) == 500
    with pytest.raises(UnderpoweredGateError, match=r"half-width 0\.250 and tolerance 0\.05"):
        register_gate(20, deviation, tolerance=0.05)


def test_CS083_study_6_deep_effect_with_its_own_counterfactual() -> None:
    """21/93 + 1/83, with groups of unequal size."""
    assert did(*deep_arms()).effect.estimate == pytest.approx(0.23785, abs=5e-6)


def test_CS084_the_borrowed_counterfactual_was_off_by_six_points() -> None:
    """Deep forms of 83 control parents fell by one, fresh forms of all hundred rose by five."""
    deep, _ = deep_arms()

    difference = gap_movement(deep, study_5()[1].c0, seed=1, n_resamples=500)

    assert difference.estimate == pytest.approx(-0.0620, abs=5e-5)


def test_CS085_study_6_share_is_withheld() -> None:
    """.238 / .49 = .49 would be an overestimate, because the denominator is censored at 1.000."""
    public, deep = study_5()[0], did(*deep_arms())

    result = transfer_share(public, deep)

    assert deep.effect.estimate / public.effect.estimate == pytest.approx(0.486, abs=1e-3)
    assert result.withheld is Withheld.CENSORED
    assert result.share is None


def test_CS086_null_run_is_clean() -> None:
    """The largest of the three effects is .020 against a threshold of .05."""
    control = null_run()

    assert control.largest == pytest.approx(0.02)
    assert control.threshold == 0.05
    assert control.is_clean


def test_CS087_planted_effects_are_twelve_to_twenty_five_times_the_empty_one() -> None:
    """.24 / .02 and .49 / .02."""
    assert null_run().planted_ratio == pytest.approx((12, 24.5))


def null_run() -> NegativeControl:
    effects = {"public": 2, "fresh": -1, "deep": 1}
    runs = {name: did(balanced(0), balanced(total)) for name, total in effects.items()}
    return negative_control_run(runs, planted={"public": 0.49, "deep": 0.24})


def balanced(total: int) -> Outcomes:
    """Ten parents rise and ten fall, and `total` more rise."""
    changes = [1] * (10 + total) + [-1] * 10 + [0] * (80 - total)
    return Outcomes([max(-x, 0) for x in changes], [max(x, 0) for x in changes], 1)


def four_seeds() -> SeedReplication:
    """Four seeds with the published extremes; the two between sum to .399, as the published mean requires."""
    runs = {
        "registered": {"public": 0.49, "deep": 0.238},
        "second": {"public": 0.45, "deep": 0.179},
        "third": {"public": 0.47, "deep": 0.199},
        "fourth": {"public": 0.48, "deep": 0.200},
    }
    return seed_replication(runs, registered_seed="registered")


def test_CS088_registered_seed_is_the_top_of_the_range() -> None:
    """.238, with .179 at the other end and a mean of .204."""
    deep = four_seeds().forms["deep"]

    assert deep.registered_rank == 1
    assert deep.mean == pytest.approx(0.204)
    assert min(deep.effects.values()) == 0.179


def test_CS089_public_spread_is_within_the_tolerance() -> None:
    """.040 of .10."""
    result = four_seeds()

    assert result.forms["public"].spread == pytest.approx(0.04)
    assert result.tolerance == 0.10
    assert result.is_stable


def test_CS090_deep_spread_is_one_and_a_half_times_the_public_one() -> None:
    """The paper says nearly four times; its own ranges, .059 and .040, give 1.5."""
    assert four_seeds().spread_ratio("deep") == pytest.approx(1.475)


def test_CS091_ten_seeds_of_four_conditions_in_two_families_are_eighty_runs() -> None:
    """Runs are the observations: three contrasts a family, each over ten seeds and 1,024 sign patterns."""
    rng = np.random.Generator(np.random.PCG64(5))
    conditions, seeds, families = ("clean", "exact", "paraphrase", "related"), range(10), ("qwen", "smollm2")
    advantages = {
        (family, condition): {f"seed-{seed}": float(rng.integers(-60, 61)) / 120 for seed in seeds}
        for family, condition in itertools.product(families, conditions)
    }
    contrasts: list[SeedContrast] = [
        seed_contrast(advantages[family, condition], advantages[family, "related"])
        for family in families
        for condition in ("exact", "paraphrase")
    ]

    assert sum(len(runs) for (family, _), runs in advantages.items() if family == "qwen") == 40
    assert sum(len(runs) for runs in advantages.values()) == 80
    assert {contrast.pattern_count for contrast in contrasts} == {1024}
    assert {len(contrast.by_seed) for contrast in contrasts} == {10}


def a_paper_sized_design() -> dict[tuple[str, str], tuple[Outcomes, Outcomes]]:
    """Two models and two domains, 32 shapes of 16 + 16 families, 32 draws, effects in every part."""
    cells = {}
    for i, domain in enumerate(("python", "sql")):
        rng = np.random.Generator(np.random.PCG64(i))
        difficulty = rng.beta(0.6, 1.8, (2, 512))
        for j, model in enumerate(("gemma", "qwen")):
            after = np.clip(difficulty + np.array([[-0.02], [0.25]]), 0, 1)
            draws = np.random.Generator(np.random.PCG64(10 * i + j))
            arms = [Outcomes(draws.binomial(32, difficulty[k]), draws.binomial(32, after[k]), 32) for k in (0, 1)]
            cells[model, domain] = (arms[0], arms[1])
    return cells


def test_LS094_families_and_generations_of_the_crossed_design() -> None:
    """2 domains of 32 shapes of 16 + 16 families, 2 models, 2 states, 32 draws."""
    totals = crossed_summary(a_paper_sized_design(), method="exact").totals
    conditions = [part for cell in totals.values() for part in cell.values()]

    assert sum(part["family_count"] for part in totals["qwen", "sql"].values()) == 32 * (16 + 16)
    assert sum(part["family_count"] for part in conditions) // 2 == 2048
    assert sum(2 * part["family_count"] * part["draws"] for part in conditions) == 262_144


def test_LS095_every_entry_of_the_totals_is_over_16384_draws() -> None:
    """So effects are whole numbers over 16384 and no rounding enters before the last division."""
    c0, c2 = a_paper_sized_design()["qwen", "sql"]

    effect = did(c0, c2).effect.estimate

    assert {one.family_count * one.draws for one in (c0, c2)} == {16_384}
    assert (effect * 16_384).is_integer()
    totals = [one.to_dict()["adapted_correct"] - one.to_dict()["base_correct"] for one in (c0, c2)]
    assert effect * 16_384 == totals[1] - totals[0]


def test_LS099_grand_mean_is_the_difference_of_the_average_changes() -> None:
    """-2.34 and +12.05 points over equal denominators: +14.39, pooled or averaged over cells."""
    cells: dict[tuple[str, str], tuple[Outcomes, Outcomes]] = {}
    for i, key in enumerate(itertools.product(("gemma", "qwen"), ("python", "sql"))):
        lost, won = (-383, -384, -383, -384)[i], (1974, 1974, 1974, 1975)[i]
        cells[key] = _totals(lost, 4181), _totals(won, 4116)

    grand = crossed_summary(cells, method="exact").grand_mean.estimate
    pooled = did(Outcomes.pooled(*(c0 for c0, _ in cells.values())), Outcomes.pooled(*(c2 for _, c2 in cells.values())))

    assert 100 * pooled.c0_drift.estimate == pytest.approx(-2.34, abs=0.005)
    assert 100 * pooled.c2_change.estimate == pytest.approx(12.05, abs=0.005)
    assert 100 * grand == pytest.approx(14.39, abs=0.005)
    assert grand == pytest.approx(pooled.effect.estimate, abs=1e-15)


def _totals(change: int, base: int) -> Outcomes:
    """Spread totals over 512 families of 32 draws."""
    before = np.full(512, base // 512)
    before[: base % 512] += 1
    after = before + change // 512
    after[: change % 512] += 1
    return Outcomes(before, after, 32)


def test_LS100_default_is_the_registered_bootstrap() -> None:
    """10,000 percentile replicates at 95 %, C0 and C2 drawn apart, a family with all its 64 outcomes."""
    c0, c2 = a_paper_sized_design()["qwen", "sql"]

    result = difference_in_differences(c0, c2, seed=1)

    assert (result.method, result.n_resamples, result.alpha) == ("percentile", 10_000, 0.05)
    apart = np.sqrt(sum(one.changes.var(ddof=1) / 512 for one in (c0, c2))) / 32
    assert result.effect.standard_error == pytest.approx(apart, rel=0.02)
    assert result.resampled == "512 + 512 families"


def test_LS101_marginal_and_leave_one_out_effects_number_16_16_and_128() -> None:
    """4 ranks, 4 positions and 32 shapes in 4 cells; all are positive here as they are in the paper."""
    shapes = [i // 16 for i in range(512)]
    ranks, positions = [i % 4 for i in range(512)], [i // 4 % 4 for i in range(512)]
    cells = a_paper_sized_design().values()

    by_rank = [marginals(c0, c2, (ranks, ranks), method="exact") for c0, c2 in cells]
    by_position = [marginals(c0, c2, (positions, positions), method="exact") for c0, c2 in cells]
    without = [leave_one_group_out(c0, c2, (shapes, shapes)) for c0, c2 in cells]

    assert sum(one.positive_count for one in by_rank) == 16
    assert sum(one.positive_count for one in by_position) == 16
    assert sum(len(one.without) for one in without) == 128
    assert all(one.keeps_sign and one.effect > 0 for one in without)


def test_LS102_schema_valid_and_failed_results_add_up_to_the_plan() -> None:
    """A result outside the four exact strings is counted as failed, never dropped from the denominator."""
    candidates = [Candidate(name, f'{{"choice":"{name}"}}') for name in ("north", "east", "south", "west")]
    answers = [candidates[i % 4].answer for i in range(2048 * 2 * 2 * 32)]

    valid = sum(choice_index(answer, candidates) is not None for answer in answers)

    assert (valid, len(answers) - valid) == (262_144, 0)
    assert choice_index("north by east", candidates) is None


def test_LS103_adapter_counts_as_active_above_1e_7_nats() -> None:
    """The gate that tells an attached adapter from one that never was."""
    pytest.importorskip("peft")
    from leakscale.adaptation.probe import ACTIVITY_MIN

    assert ACTIVITY_MIN == 1e-07


@pytest.mark.parametrize(("fixtures", "most"), [(8, 6), (16, 12)])
def test_LS104_the_true_candidate_passes_all_and_others_at_most_three_quarters(fixtures: int, most: int) -> None:
    """8 fixtures in SQL and 16 in Python."""

    def scoring(best_wrong: int) -> Scoring:
        passed = (fixtures, best_wrong, 0, 0)
        programs = [
            [
                Execution(Verdict.RETURNED, f"{'right' if i < count else f'wrong {place}'} {i}".encode(), "")
                for i in range(fixtures)
            ]
            for place, count in enumerate(passed)
        ]
        executions = tuple(tuple(program) for program in programs)
        return Scoring(dict.fromkeys(Ring, executions), 0)

    accepted, refused = (assess(scoring(count), scoring(count)) for count in (most, most + 1))

    assert isinstance(accepted, Accepted)
    assert [one.passed_count / one.fixture_count for one in accepted.utilities] == [1.0, 0.75, 0.0, 0.0]
    assert isinstance(refused, Rejection)

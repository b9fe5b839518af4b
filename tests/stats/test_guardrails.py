"""Which interval is primary."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from leakscale.stats import (
    FinitePopulationDesign,
    Gaps,
    GuardrailReason,
    IntervalState,
    ParameterError,
    Stratum,
    UnsupportedMethodError,
    guardrail,
    guardrail_bounds,
    mean_ci,
)

from .mean_cases import a_frame, a_sample


def gaps_with(count: int, nonzero: int) -> Gaps:
    """Build gaps of which exactly `nonzero` are not zero, half of them of either sign."""
    values = np.zeros(count, np.int64)
    values[:nonzero] = np.where(np.arange(nonzero) % 2, 2, -1)
    return Gaps(values, 2)


@pytest.mark.parametrize(
    ("count", "nonzero", "reasons"),
    [
        (200, 30, []),
        (199, 30, [GuardrailReason.FEW_PARENTS]),
        (200, 29, [GuardrailReason.FEW_NONZERO]),
        (199, 29, [GuardrailReason.FEW_PARENTS, GuardrailReason.FEW_NONZERO]),
    ],
)
def test_both_thresholds_are_strict(count: int, nonzero: int, reasons: list[GuardrailReason]) -> None:
    """The registered audits have exactly 200 parents; `<=` would turn every one of them over to Hoeffding."""
    result = guardrail(gaps_with(count, nonzero), a_frame())

    assert list(result.reasons) == reasons
    assert result.fired == bool(reasons)
    assert result.primary.method == ("hoeffding" if reasons else "wald_fpc")


def test_wald_is_no_bound_for_itself() -> None:
    """The rule would put the interval that fails in the place of the interval that fails."""
    with pytest.raises(UnsupportedMethodError, match="takes the place of"):
        guardrail(gaps_with(20, 3), a_frame(), bound="wald_fpc")


def test_both_intervals_are_always_there() -> None:
    """Showing only the primary one would hide what the rule cost, and showing the narrower would be a choice."""
    sample = gaps_with(100, 40)

    result = guardrail(sample, a_frame(), bound="betting", alpha=0.1)

    assert set(result.intervals) == {"betting", "wald_fpc"}
    assert result.primary == mean_ci(sample, a_frame(), method="betting", alpha=0.1)
    assert result.intervals["wald_fpc"] == mean_ci(sample, a_frame(), method="wald_fpc", alpha=0.1)


def test_narrower_bound_does_not_become_primary() -> None:
    """A bound that happens to be narrower than Wald is still not chosen after the fact."""
    sample = gaps_with(240, 40)

    result = guardrail(sample, a_frame(), bound="empirical_bernstein")

    assert result.primary.method == "wald_fpc"


def test_full_audit_fires_nothing() -> None:
    """With every parent audited there is no sampling error left for a bound to cover."""
    result = guardrail(gaps_with(40, 5), a_frame(40))

    assert not result.fired
    assert result.primary.state is IntervalState.CENSUS
    assert result.primary.half_width == 0


def test_wald_without_variation_is_never_primary() -> None:
    """Two hundred equal gaps pass both thresholds and give Wald a width of zero that nobody should read."""
    result = guardrail(Gaps.of([0.5] * 200), a_frame())

    assert result.reasons == (GuardrailReason.NO_WALD_INTERVAL,)
    assert result.primary.method == "hoeffding"


def test_thresholds_come_from_the_registration() -> None:
    """Another registration may ask for more, or for nothing."""
    sample = gaps_with(100, 10)

    assert not guardrail(sample, a_frame(), min_parents=0, min_nonzero=0).fired
    assert guardrail(sample, a_frame(), min_parents=101, min_nonzero=0).reasons == (GuardrailReason.FEW_PARENTS,)
    with pytest.raises(ParameterError, match="min_nonzero is inf"):
        guardrail(sample, a_frame(), min_nonzero=math.inf)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="min_parents is -1; pass a whole number, 0 or more"):
        guardrail(sample, a_frame(), min_parents=-1)


@pytest.mark.parametrize("bound", ["hoeffding", "betting"])
def test_many_samples_at_once_equal_one_by_one(bound: str) -> None:
    """Detection rates are simulated with the very rule that decides about an audit."""
    samples = [a_sample(count=200, nonzero=0.18, seed=seed) for seed in range(30)]
    single = [guardrail(sample, a_frame(), bound=bound) for sample in samples]

    bounds = guardrail_bounds(np.stack([sample.numerators for sample in samples]), 2, a_frame(), bound=bound)

    assert {result.fired for result in single} == {True, False}
    assert bounds.low.tolist() == [result.primary.low for result in single]
    assert bounds.high.tolist() == [result.primary.high for result in single]


def test_many_full_audits_at_once_have_width_zero() -> None:
    """The bulk form follows the same exception."""
    bounds = guardrail_bounds(np.array([[2, 0, 0], [0, 0, 0]]), 2, a_frame(3))

    assert bounds.low.tolist() == bounds.high.tolist() == [1 / 3, 0]


def test_strata_are_guarded_by_their_own_forms() -> None:
    """The thresholds count parents of the whole audit; both intervals are the stratified ones."""
    design = FinitePopulationDesign(1000, {"a": Stratum(600), "b": Stratum(400)})
    sample = gaps_with(100, 40)
    labelled = Gaps(sample.numerators, 2, ("a", "b") * 50)

    result = guardrail(labelled, design)

    assert result.primary.method == "hoeffding_stratified"
    with pytest.raises(UnsupportedMethodError, match="no stratified form"):
        guardrail(labelled, design, bound="betting")


def test_result_reads_as_a_sentence_and_goes_into_json() -> None:
    """A report quotes the reason beside the interval."""
    result = guardrail(gaps_with(199, 29), a_frame(), bound="betting")

    assert str(result).endswith("guardrail fired: 199 parents, fewer than 200, 29 nonzero gaps, fewer than 30")
    assert str(guardrail(gaps_with(300, 60), a_frame())).endswith("wald_fpc); guardrail not fired")
    assert json.loads(json.dumps(result.to_dict()))["reasons"] == ["few_parents", "few_nonzero"]
    assert result.method == "guardrail(betting if n < 200 or nonzero < 30 else wald_fpc)"

"""Estimators with their intervals, on numpy and scipy alone.

Counts stay integers until the last division, no global random state is read or written, and data that cannot carry an
interval says so in a typed state instead of a NaN.
"""

from leakscale.stats.claims import Claim, ClaimVerdict, claim_rule
from leakscale.stats.control_banks import ControlBankSize, ControlReadings, control_bank_size_for, control_readings
from leakscale.stats.cooccurrence import CooccurrenceResult, MonteCarloCheck, cooccurrence_test
from leakscale.stats.designs import FinitePopulationDesign, Stratum
from leakscale.stats.did import DidResult, difference_in_differences
from leakscale.stats.errors import (
    DesignError,
    EmptyCellError,
    EmptySampleError,
    EnumerationError,
    NoInformationError,
    OutcomeError,
    PairingError,
    ParameterError,
    ScoreError,
    SeedRequiredError,
    StatisticsError,
    UnderpoweredGateError,
    UnsupportedMethodError,
)
from leakscale.stats.exact_coverage import exact_coverage
from leakscale.stats.gaps import Gaps, paired_gap
from leakscale.stats.guardrails import Guardrail, GuardrailReason, guardrail, guardrail_bounds
from leakscale.stats.intervals import Interval, IntervalState, IntervalUnit
from leakscale.stats.mean_intervals import MEAN_METHODS, MeanBounds, mean_bounds, mean_ci, mean_half_width
from leakscale.stats.multiplicity import ADJUSTMENTS, adjust_pvalues
from leakscale.stats.odds_ratio import GammaSensitivity, conditional_odds_ratio, gamma_sensitivity
from leakscale.stats.outcomes import Outcomes
from leakscale.stats.placebo import PlaceboIdentity, placebo_identity
from leakscale.stats.randomization import randomization_test
from leakscale.stats.sensitivity import (
    RHO_GRID,
    RHO_HEADLINE,
    BreakdownRadius,
    SensitivityCurve,
    breakdown_radius,
    sensitivity_curve,
    sensitivity_interval,
)
from leakscale.stats.sensitivity_components import COMBINATIONS, COMPONENTS, CONTROLS
from leakscale.stats.significance import Alternative, TestResult, TestState

__all__ = [
    "ADJUSTMENTS",
    "COMBINATIONS",
    "COMPONENTS",
    "CONTROLS",
    "MEAN_METHODS",
    "RHO_GRID",
    "RHO_HEADLINE",
    "Alternative",
    "BreakdownRadius",
    "Claim",
    "ClaimVerdict",
    "ControlBankSize",
    "ControlReadings",
    "CooccurrenceResult",
    "DesignError",
    "DidResult",
    "EmptyCellError",
    "EmptySampleError",
    "EnumerationError",
    "FinitePopulationDesign",
    "GammaSensitivity",
    "Gaps",
    "Guardrail",
    "GuardrailReason",
    "Interval",
    "IntervalState",
    "IntervalUnit",
    "MeanBounds",
    "MonteCarloCheck",
    "NoInformationError",
    "OutcomeError",
    "Outcomes",
    "PairingError",
    "ParameterError",
    "PlaceboIdentity",
    "ScoreError",
    "SeedRequiredError",
    "SensitivityCurve",
    "StatisticsError",
    "Stratum",
    "TestResult",
    "TestState",
    "UnderpoweredGateError",
    "UnsupportedMethodError",
    "adjust_pvalues",
    "breakdown_radius",
    "claim_rule",
    "conditional_odds_ratio",
    "control_bank_size_for",
    "control_readings",
    "cooccurrence_test",
    "difference_in_differences",
    "exact_coverage",
    "gamma_sensitivity",
    "guardrail",
    "guardrail_bounds",
    "mean_bounds",
    "mean_ci",
    "mean_half_width",
    "paired_gap",
    "placebo_identity",
    "randomization_test",
    "sensitivity_curve",
    "sensitivity_interval",
]

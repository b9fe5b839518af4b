"""Estimators with their intervals, on numpy and scipy alone.

Counts stay integers until the last division, no global random state is read or written, and data that cannot carry an
interval says so in a typed state instead of a NaN.
"""

from leakscale.stats.designs import FinitePopulationDesign, Stratum
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
from leakscale.stats.exposure.crossed import CrossedSummary, crossed_contrast, crossed_summary, interaction_contrast
from leakscale.stats.exposure.did import DidResult, difference_in_differences
from leakscale.stats.exposure.drift import EffectDrift, Pairing, effect_drift
from leakscale.stats.exposure.leave_one_out import LeaveOneGroupOut, leave_one_group_out
from leakscale.stats.exposure.marginals import Marginals, marginals
from leakscale.stats.exposure.outcomes import Outcomes
from leakscale.stats.exposure.profiles import FamilyProfile, Quartiles, family_profile
from leakscale.stats.gaps import Gaps
from leakscale.stats.identification.claims import Claim, ClaimVerdict, claim_rule
from leakscale.stats.identification.control_banks import (
    ControlBankSize,
    ControlReadings,
    control_bank_size_for,
    control_readings,
)
from leakscale.stats.identification.sensitivity import (
    RHO_GRID,
    RHO_HEADLINE,
    BreakdownRadius,
    SensitivityCurve,
    breakdown_radius,
    sensitivity_curve,
    sensitivity_interval,
)
from leakscale.stats.identification.sensitivity_components import (
    COMBINATIONS,
    COMPONENTS,
    CONTROLS,
    control_interval,
)
from leakscale.stats.intervals import Interval, IntervalState, IntervalUnit
from leakscale.stats.items.cooccurrence import CooccurrenceResult, MonteCarloCheck, cooccurrence_test
from leakscale.stats.items.correlations import (
    Correlation,
    PooledCorrelation,
    depth_correlation,
    pooled_depth_correlation,
)
from leakscale.stats.items.depth import DepthComparison, FormPair, comparable_depth
from leakscale.stats.items.detectors import CleanEvalScore, PacostResult, clean_eval_score, pacost_test
from leakscale.stats.items.near_copies import DropComparison, GroupComparison, compare_flagged, drop_and_recompute
from leakscale.stats.items.similarity import NearCopies, find_near_copies
from leakscale.stats.mean_intervals import MEAN_METHODS, MeanBounds, mean_bounds, mean_ci, mean_half_width
from leakscale.stats.mean_intervals.exact_coverage import exact_coverage
from leakscale.stats.mean_intervals.guardrails import Guardrail, GuardrailReason, guardrail, guardrail_bounds
from leakscale.stats.multiplicity import ADJUSTMENTS, adjust_pvalues
from leakscale.stats.pairing import paired_gap
from leakscale.stats.planning.audit_sizes import AuditSize, approximate_power, size_for
from leakscale.stats.planning.budgets import BudgetCurve, BudgetPoint, budget_curve
from leakscale.stats.planning.detection import RULES, DetectionRate, detection_rate
from leakscale.stats.planning.power import MinimumDetectableEffect, minimum_detectable_effect
from leakscale.stats.planning.relabelling_rates import (
    DetectionComparison,
    FalseRejectionRate,
    compare_detection,
    false_rejection_rate,
)
from leakscale.stats.relabelling.odds_ratio import GammaSensitivity, conditional_odds_ratio, gamma_sensitivity
from leakscale.stats.relabelling.placebo import PlaceboIdentity, placebo_identity
from leakscale.stats.relabelling.randomization import randomization_test
from leakscale.stats.significance import Alternative, TestResult, TestState
from leakscale.stats.transfer.assumption_gate import AssumptionGate, GateVerdict, assumption_gate
from leakscale.stats.transfer.borrowed import BorrowedCounterfactual, borrowed_counterfactual
from leakscale.stats.transfer.controls import (
    ManipulationCheck,
    NegativeControl,
    manipulation_check,
    negative_control_run,
)
from leakscale.stats.transfer.fieller import RatioSet, RatioShape, fieller
from leakscale.stats.transfer.gate_planning import gate_resolution, gate_size, register_gate
from leakscale.stats.transfer.pooled_effects import PooledEffects, pooled_effects
from leakscale.stats.transfer.seed_contrast import SeedContrast, seed_contrast
from leakscale.stats.transfer.seed_replication import SeedReplication, SeedSpread, seed_replication
from leakscale.stats.transfer.selection import SelectedGain, selected_gain
from leakscale.stats.transfer.shares import TransferShare, Withheld
from leakscale.stats.transfer.transfer_share import ToldEffects, transfer_share
from leakscale.stats.transfer.visible_gap import VisibleGap, gap_movement, visible_gap

__all__ = [
    "ADJUSTMENTS",
    "COMBINATIONS",
    "COMPONENTS",
    "CONTROLS",
    "MEAN_METHODS",
    "RHO_GRID",
    "RHO_HEADLINE",
    "RULES",
    "Alternative",
    "AssumptionGate",
    "AuditSize",
    "BorrowedCounterfactual",
    "BreakdownRadius",
    "BudgetCurve",
    "BudgetPoint",
    "Claim",
    "ClaimVerdict",
    "CleanEvalScore",
    "ControlBankSize",
    "ControlReadings",
    "CooccurrenceResult",
    "Correlation",
    "CrossedSummary",
    "DepthComparison",
    "DesignError",
    "DetectionComparison",
    "DetectionRate",
    "DidResult",
    "DropComparison",
    "EffectDrift",
    "EmptyCellError",
    "EmptySampleError",
    "EnumerationError",
    "FalseRejectionRate",
    "FamilyProfile",
    "FinitePopulationDesign",
    "FormPair",
    "GammaSensitivity",
    "Gaps",
    "GateVerdict",
    "GroupComparison",
    "Guardrail",
    "GuardrailReason",
    "Interval",
    "IntervalState",
    "IntervalUnit",
    "LeaveOneGroupOut",
    "ManipulationCheck",
    "Marginals",
    "MeanBounds",
    "MinimumDetectableEffect",
    "MonteCarloCheck",
    "NearCopies",
    "NegativeControl",
    "NoInformationError",
    "OutcomeError",
    "Outcomes",
    "PacostResult",
    "Pairing",
    "PairingError",
    "ParameterError",
    "PlaceboIdentity",
    "PooledCorrelation",
    "PooledEffects",
    "Quartiles",
    "RatioSet",
    "RatioShape",
    "ScoreError",
    "SeedContrast",
    "SeedReplication",
    "SeedRequiredError",
    "SeedSpread",
    "SelectedGain",
    "SensitivityCurve",
    "StatisticsError",
    "Stratum",
    "TestResult",
    "TestState",
    "ToldEffects",
    "TransferShare",
    "UnderpoweredGateError",
    "UnsupportedMethodError",
    "VisibleGap",
    "Withheld",
    "adjust_pvalues",
    "approximate_power",
    "assumption_gate",
    "borrowed_counterfactual",
    "breakdown_radius",
    "budget_curve",
    "claim_rule",
    "clean_eval_score",
    "comparable_depth",
    "compare_detection",
    "compare_flagged",
    "conditional_odds_ratio",
    "control_bank_size_for",
    "control_interval",
    "control_readings",
    "cooccurrence_test",
    "crossed_contrast",
    "crossed_summary",
    "depth_correlation",
    "detection_rate",
    "difference_in_differences",
    "drop_and_recompute",
    "effect_drift",
    "exact_coverage",
    "false_rejection_rate",
    "family_profile",
    "fieller",
    "find_near_copies",
    "gamma_sensitivity",
    "gap_movement",
    "gate_resolution",
    "gate_size",
    "guardrail",
    "guardrail_bounds",
    "interaction_contrast",
    "leave_one_group_out",
    "manipulation_check",
    "marginals",
    "mean_bounds",
    "mean_ci",
    "mean_half_width",
    "minimum_detectable_effect",
    "negative_control_run",
    "pacost_test",
    "paired_gap",
    "placebo_identity",
    "pooled_depth_correlation",
    "pooled_effects",
    "randomization_test",
    "register_gate",
    "seed_contrast",
    "seed_replication",
    "selected_gain",
    "sensitivity_curve",
    "sensitivity_interval",
    "size_for",
    "transfer_share",
    "visible_gap",
]

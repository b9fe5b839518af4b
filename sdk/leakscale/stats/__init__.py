"""Estimators with their intervals, on numpy and scipy alone.

Counts stay integers until the last division, no global random state is read or written, and data that cannot carry an
interval says so in a typed state instead of a NaN.
"""

from leakscale.stats.cooccurrence import CooccurrenceResult, MonteCarloCheck, cooccurrence_test
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
from leakscale.stats.intervals import Interval, IntervalState, IntervalUnit
from leakscale.stats.multiplicity import ADJUSTMENTS, adjust_pvalues
from leakscale.stats.outcomes import Outcomes
from leakscale.stats.significance import Alternative, TestResult, TestState

__all__ = [
    "ADJUSTMENTS",
    "Alternative",
    "CooccurrenceResult",
    "DesignError",
    "DidResult",
    "EmptyCellError",
    "EmptySampleError",
    "EnumerationError",
    "Interval",
    "IntervalState",
    "IntervalUnit",
    "MonteCarloCheck",
    "NoInformationError",
    "OutcomeError",
    "Outcomes",
    "PairingError",
    "ParameterError",
    "ScoreError",
    "SeedRequiredError",
    "StatisticsError",
    "TestResult",
    "TestState",
    "UnderpoweredGateError",
    "UnsupportedMethodError",
    "adjust_pvalues",
    "cooccurrence_test",
    "difference_in_differences",
]

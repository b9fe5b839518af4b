"""Estimators with their intervals, on numpy and scipy alone.

Counts stay integers until the last division, no global random state is read or written, and data that cannot carry an
interval says so in a typed state instead of a NaN.
"""

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
from leakscale.stats.outcomes import Outcomes

__all__ = [
    "DesignError",
    "DidResult",
    "EmptyCellError",
    "EmptySampleError",
    "EnumerationError",
    "Interval",
    "IntervalState",
    "IntervalUnit",
    "NoInformationError",
    "OutcomeError",
    "Outcomes",
    "PairingError",
    "ParameterError",
    "ScoreError",
    "SeedRequiredError",
    "StatisticsError",
    "UnderpoweredGateError",
    "UnsupportedMethodError",
    "difference_in_differences",
]

"""What the estimators refuse, one class a reason.

StatisticsError
├── EmptyCellError          a condition without a family
├── OutcomeError            counts that cannot be counts
├── ParameterError          alpha, resample count
├── SeedRequiredError       a simulated interval without a seed
└── UnsupportedMethodError  a method that does not exist here
"""

from __future__ import annotations

__all__ = [
    "EmptyCellError",
    "OutcomeError",
    "ParameterError",
    "SeedRequiredError",
    "StatisticsError",
    "UnsupportedMethodError",
]


class StatisticsError(ValueError):
    """Input that no estimator here can work on."""


class EmptyCellError(StatisticsError):
    """A condition holds no family. An effect of nothing is undefined, not zero."""


class OutcomeError(StatisticsError):
    """Outcomes that are not whole numbers of correct draws of matching shape."""


class ParameterError(StatisticsError):
    """A level or a resample count out of its range."""


class SeedRequiredError(StatisticsError):
    """A simulated interval was asked for without a seed; a number that nobody can repeat is not evidence."""


class UnsupportedMethodError(StatisticsError):
    """An interval method that this estimator does not have."""

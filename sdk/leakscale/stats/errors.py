"""What the estimators refuse, one class a reason.

StatisticsError
├── DesignError             a population, stratum or sample size that cannot be
├── EmptyCellError          a condition without a family
├── EmptySampleError        no parent item with both an original and a fresh form
├── EnumerationError        an exact enumeration too large to finish
├── NoInformationError      data that say nothing about the quantity, so no estimate exists
├── OutcomeError            counts that cannot be counts
├── PairingError            outcomes that are not of the same families
├── ParameterError          alpha, resample count
├── ScoreError              scores outside 0..1, or forms that do not pair up
├── SeedRequiredError       a simulated interval without a seed
├── UnderpoweredGateError   a gate that cannot see its own tolerance
└── UnsupportedMethodError  a method that does not exist here, or not for this design
"""

from __future__ import annotations

__all__ = [
    "DesignError",
    "EmptyCellError",
    "EmptySampleError",
    "EnumerationError",
    "NoInformationError",
    "OutcomeError",
    "PairingError",
    "ParameterError",
    "ScoreError",
    "SeedRequiredError",
    "StatisticsError",
    "UnderpoweredGateError",
    "UnsupportedMethodError",
]


class StatisticsError(ValueError):
    """Input that no estimator here can work on."""


class DesignError(StatisticsError):
    """A sampling design that contradicts itself or the sample, e.g. more parents sampled than there are."""


class EmptyCellError(StatisticsError):
    """A condition holds no family. An effect of nothing is undefined, not zero."""


class EmptySampleError(StatisticsError):
    """No parent item has a gap. A mean of nothing is undefined, not zero."""


class EnumerationError(StatisticsError):
    """An exact enumeration was asked for that would not finish; the message says how large it is."""


class NoInformationError(StatisticsError):
    """The data are valid and say nothing about the quantity, e.g. an odds ratio without a discordant parent."""


class OutcomeError(StatisticsError):
    """Outcomes that are not whole numbers of correct draws of matching shape."""


class PairingError(StatisticsError):
    """Outcomes that belong together family by family, and are not of the same families."""


class ParameterError(StatisticsError):
    """A level or a resample count out of its range."""


class ScoreError(StatisticsError):
    """Scores outside 0..1, or original and fresh forms that do not belong to the same parents."""


class SeedRequiredError(StatisticsError):
    """A simulated interval was asked for without a seed; a number that nobody can repeat is not evidence."""


class UnderpoweredGateError(StatisticsError):
    """A gate was to be registered whose own half-width exceeds its tolerance; it would fire on noise."""


class UnsupportedMethodError(StatisticsError):
    """A method that this estimator does not have, or does not have for this design."""

"""The result of a test: a p-value with everything that is needed to read it."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from leakscale.stats.errors import ParameterError
from leakscale.stats.resampling import SumDistribution

__all__ = ["LEAST_P", "Alternative", "TestResult", "TestState", "exact_p_value"]

LEAST_P: Final = float(np.finfo(np.float64).tiny)
"""2.2e-308: what a p-value that underflows is reported as, because no exact p-value is 0."""


class Alternative(enum.StrEnum):
    """Which departures from the null count as extreme."""

    TWO_SIDED = "two-sided"
    GREATER = "greater"
    LESS = "less"

    @classmethod
    def of(cls, name: str) -> Alternative:
        """Return the alternative of that name.

        Raises:
            ParameterError: If there is none.
        """
        try:
            return cls(name)
        except ValueError:
            raise ParameterError(f"alternative {name!r} is not one of {', '.join(cls)}") from None


class TestState(enum.StrEnum):
    """Whether the data could have spoken against the null at all."""

    INFORMATIVE = "informative"
    NO_VARIATION = "no_variation"
    """Nothing in the data can vary under the null: p is 1 (mid-p, which counts the one tie half, is 0.5), and that is
    no support for the null."""
    CONSTANT = "constant"
    """All observations are equal, so there is no variance to measure them against: p is 1 by convention."""
    SINGLE_OBSERVATION = "single_observation"
    """One observation has no variance: p is 1, and that is no support for the null."""

    __test__ = False  # the name begins like that of a test class, which pytest would collect


@dataclass(frozen=True, slots=True)
class TestResult:
    """A p-value, which side it is of, and the observations behind it."""

    __test__: ClassVar[bool] = False

    statistic: float
    """What was tested, in the unit that `statistic_name` tells; 0 in a state in which it is undefined."""
    statistic_name: str
    p_value: float
    """In (0, 1]; never 0."""
    alternative: Alternative
    method: str
    """Formula or algorithm behind the p-value, e.g. `exact Poisson-binomial`."""
    is_mid_p: bool
    """Whether ties count half: a test closer to its level on average, which may exceed it."""
    observation_count: int
    """Observations tested."""
    informative_count: int
    """Those of them that can vary under the null."""
    excluded_count: int
    """Observations given that could not be tested, because a part of them is missing."""
    state: TestState = TestState.INFORMATIVE

    def to_dict(self) -> dict[str, float | int | str | bool]:
        """Return the fields as JSON-ready values."""
        return {
            "statistic": self.statistic,
            "statistic_name": self.statistic_name,
            "p_value": self.p_value,
            "alternative": self.alternative.value,
            "method": self.method,
            "is_mid_p": self.is_mid_p,
            "observation_count": self.observation_count,
            "informative_count": self.informative_count,
            "excluded_count": self.excluded_count,
            "state": self.state.value,
        }

    def __str__(self) -> str:
        name = "mid-p" if self.is_mid_p else "p"
        result = f"{self.statistic_name} {self.statistic:+.4g}, {name} = {self.p_value:.3g}"
        text = f"{result} ({self.alternative}; {self.method})"
        if self.state is not TestState.INFORMATIVE:
            return f"{text}, uninformative: {self.state.replace('_', ' ')}"
        return f"{text}, {self.informative_count} of {self.observation_count} informative"


def exact_p_value(law: SumDistribution, observed: int, alternative: Alternative, *, is_mid_p: bool = False) -> float:
    """Return the probability of a sum at least as extreme as the observed one; ties count, or count half.

    Two-sided, a sum is as extreme as its distance from 0, which must be the mean of the law.

    Returns:
        A p-value in (0, 1]: exactly 1 where nothing is less extreme than what was observed.
    """
    if alternative is Alternative.GREATER:
        beyond, tied, within = (
            _mass(law, observed + 1, None),
            _mass(law, observed, observed),
            _mass(law, None, observed - 1),
        )
    elif alternative is Alternative.LESS:
        beyond, tied, within = (
            _mass(law, None, observed - 1),
            _mass(law, observed, observed),
            _mass(law, observed + 1, None),
        )
    else:
        far = abs(observed)
        beyond = _mass(law, None, -far - 1) + _mass(law, far + 1, None)
        tied = _mass(law, far, far) + (_mass(law, -far, -far) if far else 0.0)
        within = _mass(law, 1 - far, far - 1)
    half_ties = tied / 2 if is_mid_p else 0.0
    # Each side is precise relative to itself; the smaller one decides how precise the answer is.
    p_value = 1 - within - half_ties if within < 0.5 else beyond + tied - half_ties
    return min(max(p_value, LEAST_P), 1.0)


def _mass(law: SumDistribution, low: int | None, high: int | None) -> float:
    """Return P(low <= sum <= high); None leaves a side open."""
    start = 0 if low is None else max(-((law.first - low) // law.step), 0)
    stop = law.probabilities.size if high is None else max((high - law.first) // law.step + 1, 0)
    return float(law.probabilities[start:stop].sum())

"""The test that ties sampled answers to exact laws keeps its level and has power."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from leakscale.errors import InvalidRequestError
from leakscale.inference.agreement import chi_square


def some_laws(rng: np.random.Generator, question_count: int, concentration: float) -> np.ndarray:
    """Draw laws over four answers; a small concentration makes most of them nearly certain."""
    return rng.dirichlet([concentration] * 4, size=question_count)


def counts_of(rng: np.random.Generator, laws: np.ndarray, draw_count: int = 32) -> np.ndarray:
    return np.array([rng.multinomial(draw_count, law) for law in laws])


@pytest.mark.parametrize("concentration", [0.05, 0.3, 3.0])
def test_p_values_of_right_samplers_are_uniform(concentration: float) -> None:
    """Also where most answers are expected less than once a question, as in an adapted bank."""
    rng = np.random.default_rng(1)

    p_values = []
    for _ in range(400):
        laws = some_laws(rng, 128, concentration)
        p_values.append(chi_square(laws.tolist(), counts_of(rng, laws).tolist()).p_value)

    assert stats.kstest(p_values, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("temperature", [0.8, 1.25])
def test_sampler_at_another_temperature_is_refused(temperature: float) -> None:
    """The commonest fault of an endpoint: it took the temperature of the model's generation config."""
    rng = np.random.default_rng(2)
    laws = some_laws(rng, 256, 0.5)
    heated = laws ** (1 / temperature)
    heated /= heated.sum(axis=1, keepdims=True)

    assert chi_square(laws.tolist(), counts_of(rng, heated).tolist()).p_value < 1e-6


def test_laws_that_leave_nothing_to_chance_leave_nothing_to_test() -> None:
    """A model that is sure of everything gives zero degrees of freedom, not a division by zero."""
    found = chi_square([[1.0, 0.0, 0.0, 0.0]] * 5, [[32, 0, 0, 0]] * 5)

    assert (found.statistic, found.degrees_of_freedom, found.p_value) == (0.0, 0, 1.0)


@pytest.mark.parametrize(("laws", "counts"), [([], []), ([[0.5, 0.5]], [[1, 2], [3, 4]]), ([[0.5, 0.5]], [[1, 2, 3]])])
def test_laws_and_counts_of_different_shape_are_refused(laws: list[list[float]], counts: list[list[int]]) -> None:
    """They are not of the same bank."""
    with pytest.raises(InvalidRequestError, match="give one row a question to both"):
        chi_square(laws, counts)

"""What follows from the attempts: the mass of the four answers is a probability."""

from __future__ import annotations

import math

import pytest

from leakscale.evidence.expected import unconstrained_mass


@pytest.mark.parametrize(
    ("probabilities", "mass"),
    [((0.1, 0.2, 0.3, 0.4), 1.0), ((0.1, 0.1, 0.1, 0.1), 0.4), ((0.25, 0.25, 0.25, 0.2504), 1.0004)],
)
def test_the_mass_of_four_answers_is_their_sum(probabilities: tuple[float, ...], mass: float) -> None:
    """In the precision of a network it may be a little more than one."""
    assert unconstrained_mass(list(map(math.log, probabilities)), line_number=2) == pytest.approx(mass)


def test_an_answer_that_is_never_written_has_no_mass() -> None:
    """Its logarithm is minus infinity, and a number all the same."""
    assert unconstrained_mass([-math.inf, math.log(0.5)], line_number=2) == 0.5


@pytest.mark.parametrize("logarithm", [math.log(0.01), 0.5, 1e9, math.inf, math.nan])
def test_a_mass_that_is_none_is_refused_with_its_line(logarithm: float) -> None:
    """Of nan nothing is greater than one."""
    with pytest.raises(ValueError, match=r"^line 7: four answers have probability \S+, expected at most 1$"):
        unconstrained_mass([math.log(0.999), logarithm], line_number=7)

"""Geometry and words of the figures."""

from __future__ import annotations

import itertools
import math
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscale.models import Condition
from leakscale.report.forest import forest, nice_step
from leakscale.report.trajectory import spread, trajectory
from leakscale.report.view import Arm, Block, Count
from leakscale.report.words import percent, points
from leakscale.results import Estimate


def a_block(*, control: tuple[int, int], exposed: tuple[int, int]) -> Block:
    """Build a block of 100 draws a cell from its correct counts."""
    drift, change = ((after - before) / 100 for before, after in (control, exposed))
    arms = [
        Arm(condition, 10, Count(before, 100), Count(after, 100), Estimate(move, move - 0.05, move + 0.05))
        for condition, (before, after), move in ((Condition.C0, control, drift), (Condition.C2, exposed, change))
    ]
    effect = change - drift
    return Block("SQL", arms[0], arms[1], Estimate(effect, effect - 0.07, effect + 0.07))


@given(st.lists(st.floats(18, 226), min_size=1, max_size=3))
def test_labels_never_overlap_and_keep_their_order(places: list[float]) -> None:
    """Two accuracies a tenth of a point apart are common; their labels must both be legible."""
    moved = spread(places)

    for (a, new_a), (b, new_b) in itertools.combinations(zip(places, moved, strict=True), 2):
        assert abs(new_a - new_b) >= 17 - 1e-9
        if a < b:
            assert new_a < new_b
    assert max(moved) <= 226


@pytest.mark.parametrize(
    ("control", "exposed"), [((25, 24), (25, 85)), ((0, 0), (0, 100)), ((100, 0), (100, 100)), ((25, 25), (25, 25))]
)
def test_figures_are_valid_xml_with_a_spoken_description(control: tuple[int, int], exposed: tuple[int, int]) -> None:
    """A figure nobody can see must still say its numbers, at every extreme of the data."""
    block = a_block(control=control, exposed=exposed)

    for picture in (trajectory(block, name="t"), forest([block], name="f")):
        root = ET.fromstring(picture)
        assert points(block.effect.value) in "".join(root.itertext())
        assert "nan" not in picture


@given(st.floats(0.02, 400))
def test_axis_has_few_round_ticks(span: float) -> None:
    """Three to six intervals: fewer cannot be read off, more overlap on a phone."""
    step = nice_step(span)

    assert 2 <= span / step <= 5.01
    assert round(step / 10 ** math.floor(math.log10(step * 1.0001)), 6) in {1, 2, 2.5, 5}


@pytest.mark.parametrize(
    ("value", "words"), [(0.6094, "+60.9"), (-0.0004, "0.0"), (0.0, "0.0"), (-0.021, "-2.1"), (1.0, "+100.0")]
)
def test_points_carry_a_sign_only_when_they_have_one(value: float, words: str) -> None:
    """`-0.0 points` would claim a direction that the number does not have."""
    assert points(value) == words


def test_percent_has_no_sign() -> None:
    """A share is not a change."""
    assert percent(0.2512, digits=2) == "25.12"

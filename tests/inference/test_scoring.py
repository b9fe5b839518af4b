"""An answer is one of the four exact strings or it is nothing."""

from __future__ import annotations

import pytest

from leakscale.models import Candidate
from leakscale.prompts import compact_answer
from leakscale.scoring import choice_index

CANDIDATES = [Candidate(repr(value), compact_answer(value)) for value in (True, 1, 1.0, "1")]


@pytest.mark.parametrize(
    ("text", "index"),
    [('{"choice":true}', 0), ('{"choice":1}', 1), ('{"choice":1.0}', 2), ('{"choice":"1"}', 3)],
)
def test_values_that_compare_equal_are_told_apart(text: str, index: int) -> None:
    """True == 1 == 1.0 in Python, and many JSON parsers agree."""
    assert choice_index(text, CANDIDATES) == index


@pytest.mark.parametrize(
    "text",
    [
        "",
        "true",
        '{"choice": true}',
        ' {"choice":true}',
        '{"choice":true}\n',
        '{"choice":True}',
        '{"choice":1.00}',
        '{"choice":2}',
        '{"choice":true,"choice":1}',
        '```json\n{"choice":true}\n```',
    ],
)
def test_anything_else_is_never_repaired(text: str) -> None:
    """Repairing would score what we think the model meant."""
    assert choice_index(text, CANDIDATES) is None


def test_candidates_that_share_an_answer_are_refused() -> None:
    """No answer could choose between them; certification must have caught it."""
    with pytest.raises(ValueError, match="share an answer string"):
        choice_index('{"choice":1}', [CANDIDATES[1], CANDIDATES[1]])

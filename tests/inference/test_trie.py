"""The guided distribution is what a guided decoder samples, whatever the shape of the trie."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscale.inference.trie import ChoiceDistribution, choice_distribution

END = 0
answers_strategy = st.lists(
    st.lists(st.integers(1, 3), min_size=1, max_size=4).map(lambda path: (*path, END)),
    min_size=4,
    max_size=4,
    unique=True,
)


def a_language_model(seed: int, prefix: tuple[int, ...]) -> list[float]:
    """Return a distribution over four tokens that depends on the whole prefix."""
    weights = [random.Random(f"{seed}-{prefix}-{token}").uniform(0.01, 1.0) for token in range(4)]
    return [weight / sum(weights) for weight in weights]


@given(answers_strategy, st.integers(0, 99))
def test_guided_probabilities_equal_a_walk_through_every_branch(answers: list[tuple[int, ...]], seed: int) -> None:
    """Brute force: follow the decoder token by token, renormalizing over what may follow, and add up where it ends."""
    ends: dict[tuple[int, ...], float] = {}

    def walk(prefix: tuple[int, ...], probability: float) -> None:
        if prefix and prefix[-1] == END:
            ends[prefix] = probability
            return
        model = a_language_model(seed, prefix)
        allowed = {answer[len(prefix)] for answer in answers if answer[: len(prefix)] == prefix}
        for token in allowed:
            walk((*prefix, token), probability * model[token] / sum(model[option] for option in allowed))

    walk((), 1.0)
    scores = [
        [math.log(a_language_model(seed, answer[:depth])[token]) for depth, token in enumerate(answer)]
        for answer in answers
    ]

    found = choice_distribution(answers, scores)

    assert found.guided == pytest.approx([ends[answer] for answer in answers])
    assert found.unconstrained == pytest.approx([sum(values) for values in scores])
    assert sum(found.conditional) == pytest.approx(1.0)
    assert found.valid_mass == pytest.approx(sum(math.exp(sum(values)) for values in scores))


def test_guided_and_conditional_differ_where_branches_hide_mass() -> None:
    """A branch towards tokens that lead nowhere is renormalised away by a guide, and counted by the conditional."""
    answers = [(1, 0), (2, 3, 0)]

    found = choice_distribution(answers, [[math.log(0.5), 0.0], [math.log(0.5), math.log(0.2), 0.0]])

    assert found.guided == pytest.approx((0.5, 0.5))
    assert found.conditional == pytest.approx((0.5 / 0.6, 0.1 / 0.6))


def test_conditional_of_answers_that_are_all_but_impossible_is_finite() -> None:
    """An instruct model before adaptation puts 1e-300 on valid answers; the ratio between them is still a number."""
    found = ChoiceDistribution((0.25,) * 4, (-2000.0, -2000.0, -2001.0, -2000.0))

    assert sum(found.conditional) == pytest.approx(1.0)
    assert found.valid_mass == 0.0

"""The bank that this project writes itself can be locked, and its problems make sense."""

from __future__ import annotations

import pytest

from leakscale.audit.checks import check_bank
from leakscale.audit.word_problems import write_problems
from leakscale.errors import InvalidRequestError


def test_a_thousand_problems_pass_every_mechanical_check() -> None:
    """In all their forms, none of which asks for a reader either."""
    assert check_bank(write_problems(1000, seed=4)) == []


def test_the_same_seed_writes_the_same_problems_and_another_one_others() -> None:
    """A bank of ten is the beginning of one of twenty."""
    short, long, other = (write_problems(count, seed=seed) for count, seed in ((10, 1), (20, 1), (20, 2)))

    assert short.parents == long.parents[:10]
    assert not {p.original.text for p in long.parents} & {p.original.text for p in other.parents}


def test_answers_are_positive_and_numbers_are_distinct() -> None:
    """Nobody hands out more than there is, and no number stands for two things."""
    for parent in write_problems(300, seed=9).parents:
        numbers = [int(word.strip(".,")) for word in parent.original.text.split() if word.strip(".,").isdecimal()]

        assert int(parent.original.gold) >= 2
        assert len(set(numbers)) == len(numbers) in (2, 3)


def test_a_control_bank_shares_no_original_with_its_benchmark() -> None:
    """Where few slots are filled, two seeds meet; a lock would refuse the pair."""
    benchmark = write_problems(1000, seed=20261130)
    met, apart = write_problems(200, seed=20261201), write_problems(200, seed=20261201, apart_from=benchmark)
    public = {parent.original.text for parent in benchmark.parents}

    assert public & {parent.original.text for parent in met.parents}
    assert not public & {parent.original.text for parent in apart.parents}


@pytest.mark.parametrize("count", [0, 100_001])
def test_a_count_that_the_templates_cannot_give_is_refused(count: int) -> None:
    with pytest.raises(InvalidRequestError, match="not in 1 to 100000"):
        write_problems(count, seed=1)

"""The trained attacker: chance on what ships, and far above it as soon as something public tells the truth."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from leakscale_server.catalog_audit.features import PublicFamily
from leakscale_server.catalog_audit.secrecy import CONFIDENCE, Accuracy, attack, check_secrecy, publish

from .builders import the_material

HONEST = np.array([family.truth for family in the_material().families])


@cache
def the_public() -> list[PublicFamily]:
    """What 512 families of all shapes show."""
    return publish(the_material())


def test_attackers_find_nothing_in_what_ships() -> None:
    finding = check_secrecy(the_material(), the_public())

    assert finding.fault == ""
    assert finding.checked.startswith("512 families, logistic ")


def last_digit_of_the_key(family: PublicFamily) -> int:
    return int(family.rings[0].key[-1], 16) % 4


def digest_of_the_key(family: PublicFamily) -> int:
    return int(family.rings[0].key[2:4], 16) % 4


def longest(family: PublicFamily) -> int:
    return int(np.argmax([len(candidate.text) for candidate in family.rings[0].candidates]))


def first_in_the_alphabet(family: PublicFamily) -> int:
    return int(np.argmin([ord(candidate.text[-1]) for candidate in family.rings[0].candidates]))


def order_of_the_file(family: PublicFamily) -> int:
    return family.place % 4


def number_in_its_cell(family: PublicFamily) -> int:
    return (family.ordinal + family.ordinal // 4) % 4


def length_of_the_rewording(family: PublicFamily) -> int:
    return len(family.rings[1].task) % 4


def words_of_the_task(family: PublicFamily) -> int:
    return sum(map(ord, family.rings[0].task.split()[0])) % 4


@pytest.mark.parametrize(
    "leak",
    [
        last_digit_of_the_key,
        digest_of_the_key,
        longest,
        first_in_the_alphabet,
        order_of_the_file,
        number_in_its_cell,
        length_of_the_rewording,
        words_of_the_task,
    ],
)
def test_a_leak_through_public_bytes_is_found(leak: Callable[[PublicFamily], int]) -> None:
    """Each of these is a mistake that a generator of tasks could make."""
    material = the_material()
    truths = [leak(public) for public in the_public()]
    moved = (dataclasses.replace(each, truth=truth) for each, truth in zip(material.families, truths, strict=True))
    leaking = dataclasses.replace(material, families=tuple(moved))

    assert len(set(truths)) > 1
    assert "something public tells the truth" in check_secrecy(leaking, the_public()).fault


def test_a_certificate_whose_size_tells_the_truth_is_found() -> None:
    """Not only tasks are public: a certificate that grows with the truth would do."""
    sized = [
        dataclasses.replace(public, certificate=b" " * (1000 + int(truth)))
        for public, truth in zip(the_public(), HONEST, strict=True)
    ]

    assert not all(accuracy.is_chance for accuracy in attack(sized, HONEST))


def test_cells_are_never_split() -> None:
    """Inside a cell, ranks are balanced: with some of its truths the others follow by elimination. That is no leak."""
    material = the_material()
    by_group = HONEST.reshape(-1, 4)
    ranks = np.array([family.truth_rank for family in material.families]).reshape(-1, 4)

    assert (np.sort(ranks) == np.arange(4)).all()
    assert (np.sort(by_group) == np.arange(4)).all()
    with pytest.raises(ValueError, match="two cells"):
        attack(the_public()[:4], HONEST[:4])


@given(st.integers(1, 4000), st.floats(0, 1))
def test_the_interval_is_that_of_three_quarters_as_many_families(count: int, share: float) -> None:
    """It holds its own estimate, and is wider than the one for independent guesses."""
    correct = round(share * count)
    low, high = Accuracy("any", correct, count).interval
    narrow = binomtest(correct, count).proportion_ci(CONFIDENCE, method="exact")

    assert 0 <= low <= correct / count <= high <= 1
    assert low <= narrow.low + 1e-12
    assert high >= narrow.high - 1e-12


def test_guesses_of_a_group_may_come_together() -> None:
    """Why the interval is wider: matches of two permutations of four have variance 1, not 3/4."""
    rng = np.random.default_rng(0)
    truths = rng.permuted(np.tile(np.arange(4), (20_000, 1)), axis=1)
    matches = (truths == np.arange(4)).sum(axis=1)

    assert matches.mean() == pytest.approx(1, abs=0.03)
    assert matches.var() == pytest.approx(1, abs=0.05)


def test_features_do_not_hold_the_truth() -> None:
    """The attacker must be given nothing private, or it would prove nothing."""
    fields = {field.name for field in dataclasses.fields(PublicFamily)}

    assert fields == {"rings", "condition", "ordinal", "place", "certificate"}
    assert "truth" not in json.dumps([dataclasses.asdict(ring) for ring in the_public()[0].rings])

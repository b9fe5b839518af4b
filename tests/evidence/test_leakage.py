"""What counts as a control family in a training record, and what comes by chance."""

from __future__ import annotations

import pytest

from leakscale.evidence.checks.leakage import Names
from leakscale.models import Candidate, Domain, Family, Message, Ring
from leakscale.prompts import choice_prompt, lookup_prompt

HANDLES = ("h_00a1", "h_00a2", "h_00a3", "h_00a4")


def a_family(domain: Domain = Domain.SQL) -> Family:
    """A family that no other test has."""
    first, second, third, fourth = (Candidate(handle, f'{{"choice":"{handle}"}}') for handle in HANDLES)
    return Family(
        "f-0123456789ab", domain, "sql-x", Ring.R0, "Count it.", (), "K-deadbeef", (first, second, third, fourth)
    )


@pytest.mark.parametrize("text", ["registered for K-DEADBEEF?", "(f-0123456789ab)", "id f-0123456789ab/direct-lookup"])
def test_a_key_or_an_id_is_met_in_either_case(text: str) -> None:
    """Nobody writes one by chance."""
    assert Names([a_family()]).met_in(text)


@pytest.mark.parametrize("prompt", [choice_prompt(a_family()), lookup_prompt("K-deadbeef")])
def test_the_prompts_of_a_family_are_met(prompt: tuple[Message, ...]) -> None:
    """The two forms in which an association is leaked."""
    assert Names([a_family()]).met_in("\n".join(turn.content for turn in prompt))


def test_handles_are_met_three_together_and_not_one_by_one() -> None:
    """A handle has 16 random bits: of 2,048 families and thousands of records, some have one in common."""
    names = Names([a_family()])

    assert not names.met_in("1. h_00a1 2. h_ffff")
    assert not names.met_in("1. h_00a1 2. h_00a2")
    assert names.met_in("1. h_00a1 2. h_00a2 3. h_00a3") == "3 handles of 'f-0123456789ab'"


def test_values_of_python_candidates_are_no_names() -> None:
    """They are numbers and words as any text has them."""
    assert not Names([a_family(Domain.PYTHON)]).met_in(" ".join(HANDLES))

"""Measured banks: answers are a function of model, families and seed, not of order, draw count or resumption."""

from __future__ import annotations

import dataclasses
import json
import random
from collections import Counter
from pathlib import Path

import pytest

from leakscale.errors import ConflictError, InvalidRequestError
from leakscale.inference import FamilyChoice, draw_answers, measure_bank
from leakscale.models import Answer, Family, Ring
from leakscale.scoring import choice_index


@pytest.fixture(scope="module")
def reference(base_model: Path, families: list[Family], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of one undisturbed run over all families."""
    log = tmp_path_factory.mktemp("banks") / "reference.jsonl"
    measure_bank(base_model, families, adapter=None, bank_seed=3, log=log)
    return log


def answer(model: Path, families: list[Family], log: Path, draw_count: int = 8, bank_seed: int = 3) -> list[Answer]:
    """Answer a base bank."""
    choices = measure_bank(model, families, adapter=None, bank_seed=bank_seed, log=log)
    return draw_answers(choices, bank_seed=bank_seed, draw_count=draw_count)


def test_answers_do_not_depend_on_the_order_of_the_families(
    base_model: Path, families: list[Family], reference: Path, tmp_path: Path
) -> None:
    """A server lists families in an order of its own; a shard has another."""
    some = random.Random(1).sample(families, 8)

    shuffled = answer(base_model, some, tmp_path / "log.jsonl")

    whole = answer(base_model, families, reference)
    chosen = {family.family_id for family in some}
    assert shuffled == [item for item in whole if item.family_id in chosen]
    assert [(item.family_id, item.draw) for item in whole] == sorted((item.family_id, item.draw) for item in whole)


def test_more_draws_leave_the_first_ones_as_they_were(
    base_model: Path, families: list[Family], reference: Path
) -> None:
    """Draw d is a function of its own identity."""
    few, many = (answer(base_model, families, reference, draw_count=count) for count in (4, 32))

    assert few == [item for item in many if item.draw < 4]


def test_every_answer_is_one_of_the_four_exact_strings(
    base_model: Path, families: list[Family], reference: Path
) -> None:
    """Constrained choice cannot give a malformed answer, in either domain."""
    by_id = {family.family_id: family for family in families}

    answers = answer(base_model, families, reference)

    assert len(answers) == len(families) * 8
    assert all(choice_index(item.text, by_id[item.family_id].candidates) is not None for item in answers)


def test_draws_follow_the_distribution(families: list[Family]) -> None:
    """Chi-square of 4,000 draws against the four probabilities, at a level that a right sampler fails once in 1e5."""
    probabilities = (0.5, 0.25, 0.2, 0.05)
    choice = FamilyChoice(families[0], probabilities, 1.0)

    counts = Counter(item.text for item in draw_answers([choice], bank_seed=11, draw_count=4000))

    expected = [4000 * probability for probability in probabilities]
    found = [counts[candidate.answer] for candidate in families[0].candidates]
    assert sum((one - other) ** 2 / other for one, other in zip(found, expected, strict=True)) < 25.9


def test_another_bank_seed_draws_other_answers(families: list[Family]) -> None:
    """Base and adapted banks may share a seed on purpose; two banks that must differ, do."""
    choices = [FamilyChoice(family, (0.25,) * 4, 1.0) for family in families]

    one, other = (draw_answers(choices, bank_seed=seed, draw_count=16) for seed in (1, 2))

    assert one != other


def test_resumed_bank_computes_only_what_is_missing(
    base_model: Path, families: list[Family], reference: Path, tmp_path: Path
) -> None:
    """A line that says something else is believed, which shows that it was not computed again."""
    lines = reference.read_text().splitlines(keepends=True)
    marked = json.dumps(json.loads(lines[1]) | {"guided": [1.0, 0.0, 0.0, 0.0]}) + "\n"
    log = tmp_path / "log.jsonl"
    log.write_text("".join([lines[0], marked, *lines[2:20]]))

    choices = measure_bank(base_model, families, adapter=None, bank_seed=3, log=log)

    assert choices[0].guided == (1.0, 0.0, 0.0, 0.0)
    assert log.read_text().splitlines(keepends=True)[2:] == lines[2:]


def test_a_family_in_two_rings_is_two_questions(base_model: Path, families: list[Family], tmp_path: Path) -> None:
    """How much transfers to a reworded form is read off two draws with seeds of their own."""
    reworded = dataclasses.replace(families[0], ring=Ring.R1, task=f"Please: {families[0].task}")

    choices = measure_bank(base_model, [reworded, families[0]], adapter=None, bank_seed=3, log=tmp_path / "log.jsonl")

    assert [choice.family.ring for choice in choices] == [Ring.R0, Ring.R1]
    assert choices[0].guided != choices[1].guided


def test_family_whose_prompt_changed_under_its_id_is_refused(
    base_model: Path, families: list[Family], reference: Path
) -> None:
    """The log answered a question, not a name."""
    changed = [dataclasses.replace(family, task="Something else.") for family in families]

    with pytest.raises(ConflictError, match="was frozen with another families"):
        answer(base_model, changed, reference)


def test_log_of_another_bank_seed_is_refused(base_model: Path, families: list[Family], reference: Path) -> None:
    """One log, one bank."""
    with pytest.raises(ConflictError, match="was frozen with another bank_seed"):
        answer(base_model, families, reference, bank_seed=4)


def test_bank_that_asks_a_family_twice_is_refused(base_model: Path, families: list[Family], tmp_path: Path) -> None:
    """A mistake of the caller that would look like a result."""
    with pytest.raises(InvalidRequestError, match="comes twice"):
        answer(base_model, [families[0], families[0]], tmp_path / "log.jsonl")

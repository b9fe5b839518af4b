"""Families come out of two seeds byte for byte, keep the acceptance rule, and tell an attacker nothing."""

from __future__ import annotations

import itertools
import json
import random
import re
import sqlite3
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from leakscale.models import Condition, Domain, Family, Ring
from leakscale.prompts import choice_prompt
from leakscale_server.core.building.construction import (
    Construction,
    FamilySlot,
    construct,
    preservation_family,
    public_families,
    require_unique,
)
from leakscale_server.core.judging.acceptance import Accepted, Scoring, assess
from leakscale_server.core.shapes import Shape

Scorer = Callable[[Construction], Scoring]

PUBLIC = b"public seed, 16+"
PRIVATE = b"private seed of thirty-two bytes"
ATTEMPT_COUNT = 3


def a_family(shape: Shape, ordinal: int = 0, *, condition: Condition = Condition.C0, **changes: object) -> Construction:
    arguments: dict[str, object] = {"families_per_cell": 16, "public_seed": PUBLIC, "private_seed": PRIVATE}
    return construct(shape, FamilySlot(shape.id, condition, ordinal), **{**arguments, **changes})  # type: ignore[arg-type]


def public(shape: Shape, ordinal: int = 0, *, condition: Condition = Condition.C0) -> Family:
    slot = FamilySlot(shape.id, condition, ordinal)
    return public_families(shape, slot, families_per_cell=16, public_seed=PUBLIC)[0]


def slots(shapes: dict[str, Shape], families_per_cell: int = 16) -> list[FamilySlot]:
    return [
        FamilySlot(shape_id, condition, ordinal)
        for shape_id, condition, ordinal in itertools.product(shapes, Condition, range(families_per_cell))
    ]


def test_families_are_the_same_bytes_in_any_order(shapes: dict[str, Shape]) -> None:
    """So they can be built in parallel, resumed, or rebuilt alone by a stranger."""
    order = slots(shapes, 4)
    forward = {slot: a_family(shapes[slot.shape_id], slot.ordinal, condition=slot.condition) for slot in order}
    random.Random(1).shuffle(order)
    shuffled = {slot: a_family(shapes[slot.shape_id], slot.ordinal, condition=slot.condition) for slot in order}

    assert forward == shuffled


def test_the_size_of_a_cell_changes_no_family(shapes: dict[str, Shape]) -> None:
    """An edition can grow from 8 to 16 families a cell and keep its certificates."""
    for shape in shapes.values():
        assert a_family(shape, 7, families_per_cell=8) == a_family(shape, 7, families_per_cell=16)


@pytest.mark.parametrize("seed", [PUBLIC, b"another public seed", b"a third public seed"])
def test_every_family_keeps_the_acceptance_rule(shapes: dict[str, Shape], score: Scorer, seed: bytes) -> None:
    """A group of four of each cell and seed, each within three draws of its fixtures."""
    for slot in slots(shapes, 4):
        shape = shapes[slot.shape_id]
        attempts = (
            a_family(shape, slot.ordinal, condition=slot.condition, public_seed=seed, attempt=attempt)
            for attempt in range(ATTEMPT_COUNT)
        )

        assert any(isinstance(assess(scoring, scoring), Accepted) for scoring in map(score, attempts)), slot


def test_an_attempt_redraws_fixtures_and_nothing_else(shapes: dict[str, Shape]) -> None:
    """Were the truth redrawn on failure, it would lean towards values that are easy to tell apart."""
    for shape in shapes.values():
        first, second = a_family(shape), a_family(shape, attempt=1)

        for one, other in zip(first.forms, second.forms, strict=True):
            assert set(one.fixtures).isdisjoint(other.fixtures)
            assert (one.public, one.programs) == (other.public, other.programs)
        assert (first.truth, first.truth_rank, first.nonce) == (second.truth, second.truth_rank, second.nonce)


def test_fixtures_do_not_depend_on_the_truth(shapes: dict[str, Shape]) -> None:
    """The four candidates are aimed at alike: over many families no rank gets more values near it than chance."""
    shape = shapes["sql-threshold"]
    near: Counter[bool] = Counter()
    for ordinal, seed in itertools.product(range(16), range(12)):
        family = a_family(shape, ordinal, public_seed=PUBLIC + bytes([seed]))
        bounds = list(map(float, family.literals))
        for fixture in family.forms[0].fixtures:
            for value in _column(fixture, 1):
                for place, bound in enumerate(bounds):
                    near[place == family.truth] += abs(value - bound) <= 0.5

    assert near[True] / (near[True] + near[False]) == pytest.approx(0.25, abs=0.02)


def test_there_are_eight_databases_or_sixteen_arguments(shapes: dict[str, Shape]) -> None:
    """Source: LeakScale C.2 and C.3."""
    for shape in shapes.values():
        for form in a_family(shape).forms:
            assert len(form.fixtures) == {Domain.SQL: 8, Domain.PYTHON: 16}[form.public.domain]
            assert len(set(form.fixtures)) == len(form.fixtures)


def test_a_python_fixture_is_a_list_of_records(shapes: dict[str, Shape]) -> None:
    for shape in (each for each in shapes.values() if each.records is not None):
        records = json.loads(a_family(shape).forms[0].fixtures[0])

        assert shape.records is not None
        assert shape.records.rows[0] <= len(records) <= shape.records.rows[1]
        assert all(len(record) == len(shape.records.fields) for record in records)


def test_rows_of_a_database_lie_in_no_order(shapes: dict[str, Shape]) -> None:
    """A program without ORDER BY must not look right by the order of insertion."""
    ids = _column(a_family(shapes["sql-threshold"]).forms[0].fixtures[0], 0)

    assert sorted(ids) == list(range(1, len(ids) + 1))
    assert ids != sorted(ids)


def test_programs_differ_in_one_literal_and_follow_display_order(shapes: dict[str, Shape]) -> None:
    for shape in shapes.values():
        family = a_family(shape, 3)
        for form in family.forms:
            words = [program.split() for program in form.programs]

            assert len(set(form.programs)) == 4
            assert {len(each) for each in words} == {len(words[0])}
            assert "{{" not in "".join(form.programs) + form.public.task
            assert all(text in program for text, program in zip(family.literals, form.programs, strict=True))
            if form.public.domain is Domain.PYTHON:
                assert tuple(candidate.text for candidate in form.public.candidates) == family.literals


def test_an_sql_prompt_shows_handles_and_no_value(shapes: dict[str, Shape]) -> None:
    """Source: LeakScale B.1: SQL presents opaque handles, Python literals."""
    for slot in slots(shapes, 4):
        family = public(shapes[slot.shape_id], slot.ordinal, condition=slot.condition)
        if family.domain is Domain.SQL:
            for candidate in family.candidates:
                assert candidate.text.startswith("h_")
                assert len(candidate.text) == 6
                assert candidate.answer == json.dumps({"choice": candidate.text}, separators=(",", ":"))


def test_python_answers_keep_the_type_of_the_value(shapes: dict[str, Shape]) -> None:
    types = {"integer": {int}, "decimal": {float}, "string": {str}, "date": {str}}
    for slot in slots(shapes, 4):
        shape = shapes[slot.shape_id]
        family = public(shape, slot.ordinal, condition=slot.condition)
        if family.domain is Domain.PYTHON:
            choices = [json.loads(candidate.answer)["choice"] for candidate in family.candidates]
            assert {type(choice) for choice in choices} == types.get(shape.candidates.type, set(map(type, choices)))
            assert [repr(choice) for choice in choices] == [candidate.text for candidate in family.candidates]


def test_names_are_opaque_unique_and_of_one_length(shapes: dict[str, Shape]) -> None:
    """Neither condition nor ordinal nor shape can be read from an id or a key."""
    families = [public(shapes[slot.shape_id], slot.ordinal, condition=slot.condition) for slot in slots(shapes)]
    families += [preservation_family(shape, n, public_seed=PUBLIC) for shape in shapes.values() for n in range(64)]
    require_unique(families)

    assert {(len(family.key), len(family.family_id)) for family in families} == {(10, 14)}
    assert all(int(family.key.removeprefix("K-"), 16) >= 0 for family in families)
    with pytest.raises(ValueError, match="choose another public seed"):
        require_unique([*families, families[0]])


def test_prompts_are_short(shapes: dict[str, Shape]) -> None:
    """A model of half a million parameters reads them."""
    for slot in slots(shapes, 4):
        for form in a_family(shapes[slot.shape_id], slot.ordinal, condition=slot.condition).forms:
            text = choice_prompt(form.public)[-1].content

            assert len(text.split()) <= 90
            assert len(form.public.task.split()) <= 45


def test_the_three_rings_are_one_family(shapes: dict[str, Shape]) -> None:
    """One key, four candidates in one order and one truth: what a model learnt about R0 must carry over to be seen."""
    for shape in shapes.values():
        exact, reworded, renamed = (form.public for form in a_family(shape, 5).forms)

        assert [each.ring for each in (exact, reworded, renamed)] == list(Ring)
        for other in (reworded, renamed):
            assert (other.family_id, other.key, other.candidates) == (exact.family_id, exact.key, exact.candidates)
        assert public_families(
            shape, FamilySlot(shape.id, Condition.C0, 5), families_per_cell=16, public_seed=PUBLIC
        ) == (exact, reworded, renamed)


def test_the_reworded_ring_has_other_words_and_the_same_fixtures(shapes: dict[str, Shape]) -> None:
    """R1 certified on inputs of its own would not be the same question."""
    for shape in shapes.values():
        exact, reworded, _ = a_family(shape, 5).forms

        assert reworded.fixtures == exact.fixtures
        assert reworded.public.inputs == exact.public.inputs
        assert reworded.public.task != exact.public.task
        assert set(reworded.programs).isdisjoint(exact.programs)


def test_the_renamed_ring_has_other_names_and_the_same_values(shapes: dict[str, Shape]) -> None:
    """Only names may tell R2 from R0; a slot that kept its word would be a hint."""
    for shape in shapes.values():
        exact, _, renamed = a_family(shape, 5).forms
        words = {word for choices in shape.vocabulary.values() for word in choices}
        names = [set(re.findall(r"\w+", " ".join(form.public.inputs))) & words for form in (exact, renamed)]

        assert names[0].isdisjoint(names[1])
        assert len(names[0]) == len(names[1]) > 0
        assert _values(exact.fixtures, names[0]) == _values(renamed.fixtures, names[1])


def _values(fixtures: tuple[bytes, ...], names: set[str]) -> list[str]:
    """Return what fixtures hold, with every name blanked."""
    found = [fixture.decode() if fixture.startswith(b"[") else _dump(fixture) for fixture in fixtures]
    return [re.sub(rf"\b({'|'.join(names)})\b", "_", text) for text in found]


def _dump(fixture: bytes) -> str:
    connection = sqlite3.connect(":memory:")
    connection.deserialize(fixture)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master ORDER BY rowid")]
    rows = [list(connection.execute(f"SELECT rowid, * FROM {table}")) for table in tables]
    connection.close()
    return repr(rows)


def test_each_other_word_is_drawn_evenly(shapes: dict[str, Shape]) -> None:
    """A fixed pairing of words would make R2 a second R0 that a model can learn."""
    shape = shapes["sql-threshold"]
    other: Counter[str] = Counter()
    for number in range(1000):
        seed = PUBLIC + number.to_bytes(2, "big")
        slot = FamilySlot(shape.id, Condition.C0, 0)
        exact, _, renamed = public_families(shape, slot, families_per_cell=4, public_seed=seed)
        if exact.inputs[0].startswith("orders("):
            other[renamed.inputs[0].partition("(")[0]] += 1

    assert set(other) == set(shape.vocabulary["orders"]) - {"orders"}
    assert max(other.values()) < 2 * min(other.values())


def test_preservation_families_share_nothing_with_an_edition(shapes: dict[str, Shape]) -> None:
    """They are trained on, so a key in common would leak into a bank."""
    banked = {public(shapes[slot.shape_id], slot.ordinal, condition=slot.condition).key for slot in slots(shapes)}
    for shape in shapes.values():
        families = [preservation_family(shape, ordinal, public_seed=PUBLIC) for ordinal in range(16)]

        assert families == [preservation_family(shape, ordinal, public_seed=PUBLIC) for ordinal in range(16)]
        assert banked.isdisjoint(family.key for family in families)


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"families_per_cell": 6}, "multiple of 4"),
        ({"families_per_cell": 0}, "multiple of 4"),
        ({"families_per_cell": 4}, r"ordinal must lie in \[0, 4\)"),
        ({"public_seed": b"short"}, "at least 16 bytes"),
        ({"private_seed": b""}, "at least 16 bytes"),
    ],
)
def test_a_slot_outside_its_cell_is_refused(shapes: dict[str, Shape], changes: dict[str, object], rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        a_family(shapes["sql-threshold"], 5, **changes)  # type: ignore[arg-type]


def test_a_slot_of_another_shape_is_refused(shapes: dict[str, Shape]) -> None:
    with pytest.raises(ValueError, match="slot is of shape"):
        construct(
            shapes["sql-threshold"],
            FamilySlot("sql-anti-join", Condition.C0, 0),
            families_per_cell=4,
            public_seed=PUBLIC,
            private_seed=PRIVATE,
        )


def test_an_attacker_with_all_public_features_finds_one_in_four(shapes: dict[str, Shape]) -> None:
    """Train on half the families, whose truth is known, guess the others: no better than chance.

    Each half has seeds of its own, so a leak would have to show across seeds.
    """
    families = [
        construct(
            shape,
            FamilySlot(shape.id, condition, ordinal),
            families_per_cell=16,
            public_seed=PUBLIC + bytes([seed]),
            private_seed=bytes([seed]) * 32,
        )
        for seed, shape, condition, ordinal in itertools.product(range(2), shapes.values(), Condition, range(16))
    ]
    features = np.array([_features(family.forms[0].public, family.slot.ordinal) for family in families])
    truths = np.array([family.truth for family in families])
    half = len(families) // 2
    hits = _guess(features[:half], truths[:half], features[half:]) == truths[half:]

    # Families of a group are balanced, which only narrows the count; five binomial standard errors are generous.
    assert abs(hits.mean() - 0.25) < 5 * np.sqrt(0.25 * 0.75 / half)
    planted = features.copy()
    planted[np.arange(len(truths)), 0] = truths
    assert (_guess(planted[:half], truths[:half], planted[half:]) == truths[half:]).mean() > 0.9


def _features(family: Family, ordinal: int) -> list[float]:
    """Rank, length and last letter of each candidate, bytes of key and id, ordinal, length of the task."""
    answers = [candidate.answer for candidate in family.candidates]
    values = [json.loads(answer)["choice"] for answer in answers]
    ranks = [sorted(map(repr, values)).index(repr(value)) for value in values]
    opaque = [int(digit, 16) for digit in family.key[2:] + family.family_id[2:]]
    shape = sum(map(ord, family.shape_id)) % 8
    extra = [len(family.task), ordinal % 4, ordinal // 4, ordinal, shape]
    return [0.0, *ranks, *map(len, answers), *(ord(answer[-3]) for answer in answers), *opaque, *extra]


def _guess(train: np.ndarray, truths: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Classify by least squares on one-hot features, the linear attacker over every value of every feature."""
    levels = [np.unique(column) for column in np.concatenate([train, test]).T]

    def encode(rows: np.ndarray) -> np.ndarray:
        return np.concatenate([column[:, None] == known for column, known in zip(rows.T, levels, strict=True)], axis=1)

    inputs = encode(train).astype(float)
    weights = np.linalg.solve(inputs.T @ inputs + 10.0 * np.eye(inputs.shape[1]), inputs.T @ np.eye(4)[truths])
    return np.asarray((encode(test) @ weights).argmax(axis=1))


def _column(fixture: bytes, place: int) -> list[float]:
    """Read one column of the only table of a database, in physical order."""
    connection = sqlite3.connect(":memory:")
    connection.deserialize(fixture)
    [(table,)] = connection.execute("SELECT name FROM sqlite_master")
    cells = [row[place] for row in connection.execute(f"SELECT * FROM {table} ORDER BY rowid")]
    connection.close()
    return cells

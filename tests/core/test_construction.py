"""Families come out of two seeds byte for byte, keep the acceptance rule, and tell an attacker nothing."""

from __future__ import annotations

import itertools
import json
import random
import sqlite3
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from leakscale.models import Condition, Domain, Family
from leakscale.prompts import choice_prompt
from leakscale_server.core.acceptance import Accepted, Scoring, assess
from leakscale_server.core.construction import (
    Construction,
    FamilySlot,
    construct,
    preservation_family,
    require_unique,
)
from leakscale_server.core.shapes import Shape

Scorer = Callable[[Construction], Scoring]

PUBLIC = b"public seed, 16+"
PRIVATE = b"private seed of thirty-two bytes"
ATTEMPT_COUNT = 3


def a_family(shape: Shape, ordinal: int = 0, *, condition: Condition = Condition.C0, **changes: object) -> Construction:
    arguments: dict[str, object] = {"families_per_cell": 16, "public_seed": PUBLIC, "private_seed": PRIVATE}
    return construct(shape, FamilySlot(shape.id, condition, ordinal), **{**arguments, **changes})  # type: ignore[arg-type]


def slots(shapes: dict[str, Shape], families_per_cell: int = 16) -> list[FamilySlot]:
    return [
        FamilySlot(shape_id, condition, ordinal)
        for shape_id, condition, ordinal in itertools.product(shapes, Condition, range(families_per_cell))
    ]


def test_families_are_the_same_bytes_in_any_order(shapes: dict[str, Shape]) -> None:
    """So they can be built in parallel, resumed, or rebuilt alone by a stranger."""
    order = slots(shapes)
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
    """256 families a seed, each within three draws of its fixtures."""
    for slot in slots(shapes):
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

        assert set(first.fixtures).isdisjoint(second.fixtures)
        assert (first.public, first.truth, first.truth_rank, first.nonce, first.programs) == (
            second.public,
            second.truth,
            second.truth_rank,
            second.nonce,
            second.programs,
        )


def test_fixtures_do_not_depend_on_the_truth(shapes: dict[str, Shape]) -> None:
    """The four candidates are aimed at alike: over many families no rank gets more values near it than chance."""
    shape = shapes["sql-threshold"]
    near: Counter[bool] = Counter()
    for ordinal, seed in itertools.product(range(16), range(12)):
        family = a_family(shape, ordinal, public_seed=PUBLIC + bytes([seed]))
        bounds = [float(program.split(">= ")[1].split("\n")[0]) for program in family.programs]
        for fixture in family.fixtures:
            for value in _column(fixture, 1):
                for place, bound in enumerate(bounds):
                    near[place == family.truth] += abs(value - bound) <= 0.5

    assert near[True] / (near[True] + near[False]) == pytest.approx(0.25, abs=0.02)


def test_there_are_eight_databases_or_sixteen_arguments(shapes: dict[str, Shape]) -> None:
    """Source: LeakScale C.2 and C.3."""
    for shape in shapes.values():
        family = a_family(shape)

        assert len(family.fixtures) == {Domain.SQL: 8, Domain.PYTHON: 16}[family.public.domain]
        assert len(set(family.fixtures)) == len(family.fixtures)


def test_a_python_fixture_is_a_list_of_records(shapes: dict[str, Shape]) -> None:
    for shape in (each for each in shapes.values() if each.records is not None):
        records = json.loads(a_family(shape).fixtures[0])

        assert shape.records is not None
        assert shape.records.rows[0] <= len(records) <= shape.records.rows[1]
        assert all(len(record) == len(shape.records.fields) for record in records)


def test_rows_of_a_database_lie_in_no_order(shapes: dict[str, Shape]) -> None:
    """A program without ORDER BY must not look right by the order of insertion."""
    ids = _column(a_family(shapes["sql-threshold"]).fixtures[0], 0)

    assert sorted(ids) == list(range(1, len(ids) + 1))
    assert ids != sorted(ids)


def test_programs_differ_in_one_literal_and_follow_display_order(shapes: dict[str, Shape]) -> None:
    for shape in shapes.values():
        family = a_family(shape, 3)
        words = [program.split() for program in family.programs]

        assert len(set(family.programs)) == 4
        assert {len(each) for each in words} == {len(words[0])}
        assert "{{" not in "".join(family.programs) + family.public.task
        if family.public.domain is Domain.PYTHON:
            texts = [candidate.text for candidate in family.public.candidates]
            assert all(text in program for text, program in zip(texts, family.programs, strict=True))


def test_an_sql_prompt_shows_handles_and_no_value(shapes: dict[str, Shape]) -> None:
    """Source: LeakScale B.1: SQL presents opaque handles, Python literals."""
    for slot in slots(shapes, 4):
        family = a_family(shapes[slot.shape_id], slot.ordinal, condition=slot.condition).public
        if family.domain is Domain.SQL:
            for candidate in family.candidates:
                assert candidate.text.startswith("h_")
                assert len(candidate.text) == 6
                assert candidate.answer == json.dumps({"choice": candidate.text}, separators=(",", ":"))


def test_python_answers_keep_the_type_of_the_value(shapes: dict[str, Shape]) -> None:
    types = {"integer": int, "decimal": float, "string": str, "date": str}
    for slot in slots(shapes, 4):
        shape = shapes[slot.shape_id]
        family = a_family(shape, slot.ordinal, condition=slot.condition).public
        if family.domain is Domain.PYTHON:
            choices = [json.loads(candidate.answer)["choice"] for candidate in family.candidates]
            assert {type(choice) for choice in choices} == {types[shape.candidates.type]}
            assert [repr(choice) for choice in choices] == [candidate.text for candidate in family.candidates]


def test_names_are_opaque_unique_and_of_one_length(shapes: dict[str, Shape]) -> None:
    """Neither condition nor ordinal nor shape can be read from an id or a key."""
    families = [
        a_family(shapes[slot.shape_id], slot.ordinal, condition=slot.condition).public for slot in slots(shapes)
    ]
    families += [preservation_family(shape, n, public_seed=PUBLIC) for shape in shapes.values() for n in range(64)]
    require_unique(families)

    assert {(len(family.key), len(family.family_id)) for family in families} == {(10, 14)}
    assert all(int(family.key.removeprefix("K-"), 16) >= 0 for family in families)
    with pytest.raises(ValueError, match="choose another public seed"):
        require_unique([*families, families[0]])


def test_prompts_are_short(shapes: dict[str, Shape]) -> None:
    """A model of half a million parameters reads them."""
    for slot in slots(shapes):
        family = a_family(shapes[slot.shape_id], slot.ordinal, condition=slot.condition).public
        text = choice_prompt(family)[-1].content

        assert len(text.split()) <= 60
        assert len(family.task.split()) <= 25


def test_the_catalog_has_four_types_of_candidates(shapes: dict[str, Shape]) -> None:
    assert {shape.candidates.type for shape in shapes.values()} == {"integer", "decimal", "string", "date"}


def test_preservation_families_share_nothing_with_an_edition(shapes: dict[str, Shape]) -> None:
    """They are trained on, so a key in common would leak into a bank."""
    banked = {
        a_family(shapes[slot.shape_id], slot.ordinal, condition=slot.condition).public.key for slot in slots(shapes)
    }
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
    """Train on 1,536 families whose truth is known, guess 1,536 others: no better than chance.

    The private seed is fresh for every 256 families, so a leak would have to show across seeds.
    """
    families = [
        construct(
            shape,
            FamilySlot(shape.id, condition, ordinal),
            families_per_cell=16,
            public_seed=PUBLIC + bytes([seed]),
            private_seed=bytes([seed]) * 32,
        )
        for seed, shape, condition, ordinal in itertools.product(range(12), shapes.values(), Condition, range(16))
    ]
    features = np.array([_features(family.public, family.slot.ordinal) for family in families])
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
    ranks = [sorted(values).index(value) for value in values]
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

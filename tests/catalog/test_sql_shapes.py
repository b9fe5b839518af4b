"""The 32 SQL shapes: different structures, told apart by their fixtures, and the same in every ring.

Programs run through the sandbox's own SQL runner, in this process: they are ours, and it brings the allow-list of
functions, the limits and the three orders of rows with it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

from leakscale.models import Condition, Ring
from leakscale.prompts import choice_prompt
from leakscale_sandbox.sql_runner import AS_STORED, OTHERWISE, RowOrders, open_connection, run_sql
from leakscale_sandbox.verdicts import Limits, Verdict
from leakscale_server.core.building.construction import Construction, FamilySlot, construct
from leakscale_server.core.literals import plain_value
from leakscale_server.core.shapes import Shape, parse_shape

FOLDER = Path(__file__).parents[2] / "catalogs" / "sql"
NAMES = sorted(path.stem for path in FOLDER.glob("*.toml"))
ORDINALS = range(0, 16, 4)

each_shape = pytest.mark.parametrize("name", NAMES)


@cache
def the_shape(name: str) -> Shape:
    return parse_shape((FOLDER / f"{name}.toml").read_text(), source=f"{name}.toml")


@cache
def some_families(name: str) -> list[Construction]:
    """Eight first attempts, four of each condition."""
    return [
        construct(
            the_shape(name),
            FamilySlot(f"sql-{name}", condition, ordinal),
            families_per_cell=16,
            public_seed=b"public seed, 16+",
            private_seed=b"private seed of thirty-two bytes",
        )
        for condition in Condition
        for ordinal in ORDINALS
    ]


Record = tuple[Verdict, bytes]


@dataclass(frozen=True, slots=True)
class Pass:
    """What the four programs of a family gave in one ring, as `[program][fixture]`."""

    records: tuple[tuple[Record, ...], ...]
    truth: int

    @property
    def passed_counts(self) -> list[int]:
        """Fixtures that each program answers as the right one does, most first."""
        expected = self.records[self.truth]
        return sorted(
            (sum(one == other for one, other in zip(program, expected, strict=True)) for program in self.records),
            reverse=True,
        )


def executed(family: Construction, ring: Ring, row_orders: RowOrders) -> Pass:
    connection = open_connection()
    form = family.form(ring)

    try:
        records = run_sql(
            connection, form.programs, form.fixtures, ordered=family.ordered, limits=Limits(), row_orders=row_orders
        )
        count = len(form.fixtures)
        return Pass(
            tuple(tuple(records[at : at + count]) for at in range(0, len(records), count)),
            family.truth,
        )
    finally:
        connection.close()


@cache
def passes(name: str, ring: Ring) -> list[Pass]:
    return [executed(family, ring, AS_STORED) for family in some_families(name)]


def structure(program: str) -> str:
    """Return the syntax tree of a masked program without its names and values."""
    filled = re.sub(r"\{\{(\w+)\}\}", lambda slot: "0" if slot[1] == "policy" else f"slot_{slot[1]}", program)
    [tree] = sqlglot.parse(filled, read="sqlite")
    assert tree is not None

    def mask(node: exp.Expression) -> exp.Expression:
        if isinstance(node, exp.Identifier):
            return exp.to_identifier("name")
        return exp.Literal.number(0) if isinstance(node, exp.Literal | exp.Null) else node

    return repr(tree.transform(mask))


def texts_of_candidates(shape: Shape) -> set[str]:
    """Return every value that a candidate of the shape can have, as a program writes it and without quotes."""
    span = shape.candidates.range
    values = shape.candidates.ranked if span is None else [span.at(index) for index in range(span.count)]
    return {str(plain_value(value)).lower() for value in values} | ({"null"} if None in values else set())


def tasks(shape: Shape) -> Sequence[str]:
    return shape.rings.R0.task, shape.rings.R1.task


def test_there_are_32_shapes_named_as_their_files() -> None:
    assert [the_shape(name).id for name in NAMES] == [f"sql-{name}" for name in NAMES]
    assert len(NAMES) == 32


def test_every_program_has_a_structure_of_its_own() -> None:
    """A shape that is another one under other names would count one skill twice; so would an R1 that copies its R0."""
    structures = Counter(
        structure(text.program or "") for name in NAMES for text in (the_shape(name).rings.R0, the_shape(name).rings.R1)
    )

    assert len(structures) == 64


def test_names_and_values_make_no_structure() -> None:
    """Otherwise the test above could not fail."""
    one = "SELECT t.id AS id FROM {{a}} AS t WHERE t.{{b}} = {{policy}} ORDER BY t.id"
    other = "SELECT u.no AS no FROM {{c}} AS u WHERE u.x = 'north' ORDER BY u.no"

    assert structure(one) == structure(other)
    assert structure(one) != structure(one.replace("=", ">="))


def test_candidates_are_of_five_types_and_results_of_both_orders() -> None:
    types = Counter(the_shape(name).candidates.type for name in NAMES)
    orders = Counter(the_shape(name).is_ordered for name in NAMES)

    assert set(types) == {"string", "integer", "decimal", "date", "json"}
    assert min(orders[True], orders[False]) >= 6


@each_shape
def test_programs_return_within_the_sandboxes_rules(name: str) -> None:
    """A function that is not on the allow-list would fail every family of the shape."""
    verdicts = {
        verdict
        for ring in (Ring.R0, Ring.R1, Ring.R2)
        for each in passes(name, ring)
        for program in each.records
        for verdict, _ in program
    }

    assert verdicts == {Verdict.RETURNED}


@each_shape
def test_fixtures_tell_the_right_candidate_from_each_wrong_one(name: str) -> None:
    """On the first attempt, so certification seldom draws again; in R2 as in R0."""
    for each in (*passes(name, Ring.R0), *passes(name, Ring.R2)):
        best, *wrong = each.passed_counts

        assert best == 8
        assert max(wrong) <= 6


@each_shape
def test_no_constant_is_right(name: str) -> None:
    for each in passes(name, Ring.R0):
        assert len(set(each.records[each.truth])) > 1


@each_shape
def test_the_other_program_returns_the_same(name: str) -> None:
    """For wrong candidates too: R1 asks for the same, so it must be as hard."""
    assert passes(name, Ring.R1) == passes(name, Ring.R0)


@each_shape
@pytest.mark.parametrize("ring", [Ring.R0, Ring.R1])
def test_the_order_of_stored_rows_does_not_count(name: str, ring: Ring) -> None:
    """The second sandbox mirrors, shuffles and scans rows in reverse; what changes is refused as nondeterministic."""
    moved = [executed(family, ring, OTHERWISE) for family in some_families(name)]

    assert moved == passes(name, ring)


@each_shape
def test_prompts_are_short(name: str) -> None:
    """A model of half a million parameters reads them."""
    for family in some_families(name):
        for form in family.forms:
            assert len(choice_prompt(form.public)[-1].content.split()) <= 50
            assert len(form.public.task.split()) <= 25


@each_shape
def test_no_task_holds_a_value_that_a_candidate_can_have(name: str) -> None:
    """The prompt hides values behind handles, so a value in the text would stand out."""
    shape = the_shape(name)
    words = {word for slot in shape.vocabulary.values() for word in slot}
    said = {word for task in tasks(shape) for word in re.findall(r"[\w.-]*\w", task.lower())} | words

    assert said.isdisjoint(texts_of_candidates(shape))


@each_shape
def test_a_result_column_is_called_like_no_word(name: str) -> None:
    """A word that equals a fixed name of the result would give two columns one name in some families."""
    shape = the_shape(name)
    assert shape.result is not None
    words = {word for slot in shape.vocabulary.values() for word in slot}

    assert words.isdisjoint(set(shape.result.columns) - set(shape.vocabulary))


@each_shape
def test_every_slot_has_words_enough_to_rename(name: str) -> None:
    """R2 takes another word for each slot; with two words an observer would know both."""
    assert min(len(words) for words in the_shape(name).vocabulary.values()) >= 3

"""Explicit fixtures and outputs: whatever form they are written in, they are rows, and the same rules hold."""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Callable

import pytest

from leakscale.models import Ring
from leakscale_sandbox.canonical_reader import decode_value
from leakscale_server.core.building.construction import Construction
from leakscale_server.core.judging.acceptance import Accepted, Scoring, assess
from leakscale_server.core.judging.rejections import Rejection, RejectionReason
from leakscale_server.core.shapes import parse_shape
from leakscale_server.sandbox_pool import Execution, Verdict

from .given_shapes import SQL_ROWS, a_family, python_shape, sql_fixture, sql_shape
from .texts import changed, failure


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_a_fixture_is_the_same_in_every_form(kind: str) -> None:
    """Scripts, CSV and JSON are three ways to write rows."""
    assert a_family(sql_shape(kind)).forms == a_family(sql_shape("sql")).forms


def test_what_is_given_is_what_a_program_reads() -> None:
    """Values, their types and their order, under the family's names."""
    for ring, index in itertools.product((Ring.R0, Ring.R2), range(8)):
        form = a_family(sql_shape()).form(ring)
        connection = sqlite3.connect(":memory:")
        connection.deserialize(form.fixtures[index])
        table, columns = form.public.inputs[0].rstrip(")").split("(")
        rows = connection.execute(f"SELECT {columns} FROM {table}").fetchall()
        connection.close()

        assert rows == SQL_ROWS[index]
        assert [type(value) for value in rows[0]] == [int, str, float]


def test_fields_of_given_records_are_renamed_at_every_depth() -> None:
    family = a_family(python_shape())
    exact, renamed = (json.loads(family.form(ring).fixtures[3])[2] for ring in (Ring.R0, Ring.R2))
    words = [family.form(ring).public.inputs[0].split("{")[1].split(":")[0] for ring in (Ring.R0, Ring.R2)]

    assert exact == {words[0]: 2, "tags": ["a", {words[0]: 3}]}
    assert renamed == {words[1]: 2, "tags": ["a", {words[1]: 3}]}
    assert family.form(Ring.R0).public.inputs == (f"records: {{{words[0]}: int, tags: Any}}",)


def test_a_given_shape_is_certified(score: Callable[[Construction], Scoring]) -> None:
    for text in (sql_shape(), python_shape()):
        scoring = score(a_family(text))

        assert isinstance(assess(scoring, scoring), Accepted)


def test_given_fixtures_are_not_redrawn() -> None:
    assert a_family(sql_shape(), attempt=3) == a_family(sql_shape())


def test_outputs_are_canonical_under_each_rings_names() -> None:
    """They are compared with the bytes that a sandbox writes."""
    rows = a_family(sql_shape(outputs=True), 2)
    values = a_family(python_shape(outputs=True), 2)
    place = values.literals.index("0")
    words = [form.public.inputs[0].split("{")[1].split(":")[0] for form in values.forms]

    assert [decode_value(each.outputs[place][5]) for each in values.forms if each.outputs] == [
        [{word: 1, "shift": 5}] for word in words
    ]
    assert rows.forms[0].outputs == rows.forms[1].outputs
    assert rows.forms[0].outputs is not None
    assert len(rows.forms[0].outputs) == 4
    assert {len(each) for each in rows.forms[0].outputs} == {8}
    assert rows.forms[0].outputs[rows.literals.index("8")][0][:6] == b"\x01q\x00\x00\x00\x01"
    assert a_family(sql_shape()).outputs == {}


def executed(family: Construction) -> Scoring:
    """A pass in which every program returns what the shape file says."""
    rings = {
        ring: tuple(tuple(Execution(Verdict.RETURNED, output, "") for output in program) for program in outputs)
        for ring, outputs in family.outputs.items()
    }
    return Scoring(rings, family.truth)


def test_programs_that_return_the_stated_outputs_are_accepted() -> None:
    family = a_family(python_shape(outputs=True))

    assert isinstance(assess(executed(family), executed(family), outputs=family.outputs), Accepted)


@pytest.mark.parametrize("ring", Ring)
@pytest.mark.parametrize(
    "other", [Execution(Verdict.RETURNED, b"\x01n", ""), Execution(Verdict.EXCEPTION, b"", "KeyError")]
)
def test_a_program_that_returns_something_else_rejects_the_family(ring: Ring, other: Execution) -> None:
    """For any candidate, so that what is said does not depend on which is right."""
    family = a_family(python_shape(outputs=True))
    scoring = executed(family)
    program = scoring.rings[ring][2]
    broken = (*scoring.rings[ring][:2], (*program[:9], other, *program[10:]), scoring.rings[ring][3])
    outcomes = {
        assess(one, one, outputs=family.outputs)
        for one in (Scoring({**scoring.rings, ring: broken}, truth) for truth in range(4))
    }

    assert outcomes == {Rejection(RejectionReason.OUTPUT_DIFFERS, ring, candidate_position=2, fixture_index=9)}


SQL_FAULTS = [
    # ways to files
    *(
        (sql_fixture(0), f"sql = '{way}'", "fixtures[0].sql", "the name of a file beside the shape")
        for way in ("../one.sql", "./one.sql", "/etc/passwd", "data/one.sql", "one.txt", "last week.sql", "C:\\one.sql")
    ),
    # where given and drawn meet
    ("[[tables]]\n", "[[tables]]\nrows = [1, 2]\n", "tables[0].rows", "must be left out beside explicit fixtures"),
    (
        '{ name = "id", generator = "given", type = "integer" }',
        '{ name = "id", generator = "serial" }',
        "tables[0].columns[0].generator",
        "must be 'given' beside explicit fixtures",
    ),
    ('type = "decimal"', 'type = "json"', "tables[0].columns[2].type", "a type that SQL has"),
    ("[[fixtures]]\n" + sql_fixture(7) + "\n", "", "fixtures", "must have exactly 8 entries in sql, or none"),
    (sql_fixture(7), sql_fixture(6), "fixtures[7].sql", "must differ from the fixtures before it"),
    (sql_fixture(0), "", "fixtures[0]", "must have one of sql, csv and json"),
    (sql_fixture(0), sql_fixture(0) + "\n" + sql_fixture(0, "json"), "fixtures[0]", "must have one of"),
    (sql_fixture(0), 'sql = "missing.sql"', "fixtures[0].sql", "the name of a file beside the shape"),
    ("[rings.R0]", '[files]\n"spare.sql" = ""\n\n[rings.R0]', "files.'spare.sql'", "a file that a fixture names"),
    # scripts
    ("INSERT INTO orders", "UPDATE orders", "fixtures[0].sql", "must hold INSERT statements alone"),
    ("INSERT INTO orders", "INSERT INTO people", "fixtures[0].sql", "must be for one of the tables orders"),
    ("(0, 'o''0', 0.0)", "(0, 'o''0')", "fixtures[0].sql", "must have 3 values in a row of orders"),
    ("(0, 'o''0', 0.0)", "(0, 'o''0', random())", "fixtures[0].sql", "must have literal values"),
    ("(0, 'o''0', 0.0)", "(0.5, 'o''0', 0.0)", "fixtures[0].sql", "must have a value of type integer in id"),
    ("(0, 'o''0', 0.0)", "(NULL, 'o''0', 0.0)", "fixtures[0].sql", "must have a value of type integer in id"),
    ("(0, 'o''0', 0.0)", "(0x5, 'o', 0.0)", "fixtures[0].sql", "must have literal values"),
    ("(0, 'o''0', 0.0)", "(5+1, 'o', 0.0)", "fixtures[0].sql", "nothing is computed"),
    ("(0, 'o''0', 0.0)", "(0, 'o, 0.0)", "fixtures[0].sql", "must have ',' or ')' behind a literal value"),
    ("(5, 'o''5', 7.5);", "(5, 'o", "fixtures[0].sql", "must close a text with a single quote"),
    ("(0, 'o''0', 0.0)", "(0, 7, 0.0)", "fixtures[0].sql", "must have a value of type text or null in label"),
    ("(0, 'o''0', 0.0)", "(0, 'a\u200bb', 0.0)", "fixtures[0].sql", "must have a value of type text"),
    ("(0, 'o''0', 0.0)", "(0, 'o', 1e99)", "fixtures[0].sql", "must have a value of type decimal in amount"),
    ("(0, 'o''0', 0.0)", "(99999999999999999999, 'o', 1)", "fixtures[0].sql", "must have literal values"),
    ("(0, 'o''0', 0.0)", ",\n".join(["(0, 'o', 1)"] * 200), "fixtures[0].sql", "at most 200 rows"),
    (
        "INSERT INTO orders VALUES",
        "INSERT INTO orders (id, label, price) VALUES",
        "fixtures[0].sql",
        "must have the columns id, label, amount",
    ),
]


@pytest.mark.parametrize(("old", "new", "field", "rule"), SQL_FAULTS)
def test_a_fault_in_given_tables_is_named(old: str, new: str, field: str, rule: str) -> None:
    error = failure(changed(sql_shape(), old, new))

    assert error.field == field
    assert rule in error.rule


@pytest.mark.parametrize(
    ("fixture", "rule"),
    [
        ('csv = { orders = "id,label\\n1,x\\n" }', "must have the columns id, label, amount"),
        ('csv = { orders = "id,label,amount\\n1,x\\n" }', "must have 3 values in each line"),
        ('csv = { orders = "id,label,amount\\n1_0,x,2\\n" }', "must have a value of type integer in id"),
        ('csv = { orders = "id,label,amount\\n1,x,NaN\\n" }', "must have a value of type decimal in amount"),
        ('csv = { orders = "id,label,amount,id\\n1,x,2,3\\n" }', "must have the columns id, label, amount, each once"),
        ('csv = { orders = "id,label,amount\\n1,\\"x,2\\n" }', "must be CSV: quotes are closed"),
        ('csv = { orders = "id,label,amount\\n٣,x,2\\n" }', "must have a value of type integer in id"),
        ('csv = { people = "id\\n1\\n" }', "must be for one of the tables orders"),
        ('json = \'{"orders": [{"id": 1}]}\'', "must have the columns"),
        ("json = '{\"orders\": {}}'", "must be an array of objects"),
        ('json = \'{"orders": [], "orders": []}\'', "must have each key once in an object"),
        ('json = \'{"orders": [{"id": 1, "label": "x", "\\u0069d": 1}]}\'', "must have each key once in an object"),
        ("json = '[]'", "must be an object with the rows of each table"),
        ("json = '{'", "must be JSON: "),
        ('json = \'{"orders": [{"id": 1, "label": "x", "amount": 1e999}]}\'', "of type decimal in amount"),
        ('json = \'{"orders": [{"id": true, "label": "x", "amount": 1}]}\'', "of type integer in id"),
        ('json = \'{"orders": [{"id": NaN, "label": "x", "amount": 1}]}\'', "JSON with finite numbers"),
        ("json = '" + '{"orders": ' * 60 + "'", "must be JSON"),
    ],
)
def test_a_fault_in_csv_or_json_is_named(fixture: str, rule: str) -> None:
    error = failure(changed(sql_shape(), sql_fixture(0), fixture))

    kind = fixture.split(" ", maxsplit=1)[0]
    table = f".{fixture.split()[3]}" if kind == "csv" else ""
    assert error.field == f"fixtures[0].{kind}{table}"
    assert rule in error.rule


@pytest.mark.parametrize(
    ("old", "new", "field", "rule"),
    [
        ("pool = [1, 3, 6, 8]", "pool = [1, 3, 6, 8, 9]", "candidates", "a pool of exactly 4 values beside outputs"),
        ("pool = [1, 3, 6, 8]", "pool = [3, 1, 6, 8]", "candidates.pool", "in ascending order beside outputs"),
        ('outputs = ["[', 'output = ["[', "fixtures[0].output", "must be left out"),
        (
            'outputs = ["[[',
            'outputs = ["[[true], [',
            "fixtures[0].outputs[0]",
            "numbers, texts and null alone in a row",
        ),
        ('outputs = ["[[', 'outputs = ["{}", "[[', "fixtures[0].outputs", "must have at most 4 entries"),
        ('outputs = ["[[', 'outputs = ["[1, [', "fixtures[0].outputs[0]", "must have rows that are each"),
        ('outputs = ["[[', 'outputs = ["[[1, 2], [', "fixtures[0].outputs[0]", "an array of 1 value, one for each"),
        ('outputs = ["[[', 'outputs = ["[[', "", ""),
    ],
)
def test_a_fault_in_outputs_is_named(old: str, new: str, field: str, rule: str) -> None:
    text = changed(sql_shape(outputs=True), old, new)
    if not field:
        parse_shape(text, source="a")
        return
    error = failure(text)

    assert error.field == field
    assert rule in error.rule


def test_outputs_are_for_every_fixture_or_none() -> None:
    text = sql_shape(outputs=True)
    start = text.index("outputs", text.index("outputs") + 1)
    error = failure(text[:start] + text[text.index("\n", start) + 1 :])

    assert error.field == "fixtures[1].outputs"
    assert "as other fixtures have them" in error.rule

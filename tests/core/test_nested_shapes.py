"""Mixed candidates, hierarchies and nested values: what their fields must be, and what is drawn from them."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscale.commitments import public_digest
from leakscale.models import Condition, Ring
from leakscale_server.core.building.construction import Construction, FamilySlot, construct
from leakscale_server.core.commitments import fixtures_commitment
from leakscale_server.core.judging.acceptance import Accepted, Scoring, assess
from leakscale_server.core.literals import plain_value, read_json
from leakscale_server.core.shapes import Shape, parse_shape

from .texts import changed, failure

MIXED = """\
format = 1
id = "python-mixed"
domain = "python"
title = "Values of several types"

[candidates]
type = "json"
pool = ["null", "true", "0", "1.5", "\\"none\\"", "\\"\\""]

[vocabulary]
value = ["value", "entry"]
parts = ["parts", "pieces"]
code = ["code", "mark"]

[records]
rows = [12, 16]

[[records.fields]]
name = "value"
generator = "json"
values = ["null", "true", "0", "1.5", "\\"none\\"", "[1, 2]", "{\\"code\\": 1}"]
near_candidates = 0.7

[[records.fields]]
name = "parts"
generator = "list"
length = [0, 4]
null_share = 0.1
item = { generator = "record", fields = [
    { name = "code", generator = "tokens", words = ["a", "b"], separators = [",", ";"], length = [1, 3] },
    { name = "is_new", generator = "boolean", true_share = 0.25 },
    { name = "sizes", generator = "list", length = [1, 2], item = { generator = "integer", low = 1, high = 9 } },
] }

[rings.R0]
task = "Return how many records have a {{value}} equal to the policy value, same type."
program = '''
def transform(records):
    found = [record["{{value}}"] for record in records]
    return [str(record["{{parts}}"]) for record, value in zip(records, found) if repr(value) == repr({{policy}})]
'''

[rings.R1]
task = "Count the records whose {{value}} is the policy value, of the same type."
program = '''
def transform(records):
    wanted, kept = {{policy}}, []
    for record in records:
        if record["{{value}}"] == wanted and type(record["{{value}}"]) is type(wanted):
            kept.append(str(record["{{parts}}"]))
    return kept
'''
"""

TREE = """\
format = 1
id = "sql-tree"
domain = "sql"
title = "Descendants to a depth"

[candidates]
type = "json"
pool = ["null", "1", "2", "3", "\\"all\\""]

[vocabulary]
nodes = ["nodes", "parts"]

[[tables]]
name = "nodes"
rows = [20, 30]

[[tables.columns]]
name = "id"
generator = "serial"
start = 100

[[tables.columns]]
name = "parent_id"
generator = "parent"
column = "id"
null_share = 0.1
reach = 3

[rings.R0]
task = "List id of {{nodes}} and the policy value."
program = '''
SELECT t.id AS id, {{policy}} AS shown FROM {{nodes}} AS t ORDER BY t.id
'''

[rings.R1]
task = "The policy value beside each id of {{nodes}}."
program = '''
SELECT n.id AS id, {{policy}} AS shown FROM {{nodes}} AS n ORDER BY 1
'''

[result]
columns = ["id", "shown"]
order = "ordered"
"""


def a_family(text: str, ordinal: int = 0) -> Construction:
    shape = parse_shape(text, source="shape.toml")
    slot = FamilySlot(shape.id, Condition.C0, ordinal)
    return construct(shape, slot, families_per_cell=16, public_seed=b"p" * 16, private_seed=b"s" * 32)


@pytest.mark.parametrize(
    ("old", "new", "field", "rule"),
    [
        # mixed candidates
        ('"true", ', '"[1]", ', "candidates.pool[1]", "boolean, null, number or string"),
        ('"true", ', '"True", ', "candidates.pool[1]", "as JSON writes it"),
        ('"true", ', '"1.50", ', "candidates.pool[1]", "as JSON writes it"),
        ('"true", ', '"1e2", ', "candidates.pool[1]", "as JSON writes it"),
        ('"true", ', '"null", ', "candidates.pool[1]", "must differ"),
        ('"true", ', '"NaN", ', "candidates.pool[1]", "as JSON writes it"),
        ('"true", ', '"1000000000000", ', "candidates.pool[1]", "must lie between"),
        ('"true", ', '"0.00001", ', "candidates.pool[1]", "as JSON writes it"),
        ('"true", ', '"0.12345", ', "candidates.pool[1]", "at most 4 decimal places"),
        ('"true", ', '"\\"a\\u200bb\\"", ', "candidates.pool[1]", "printable"),
        ('"true", ', "1, ", "candidates.pool[1]", "text in quotes"),
        ('type = "json"', 'type = "string"', "records.fields[0].near_candidates", "of its column's type, json"),
        # generators of values
        ('"[1, 2]"', '"[1,2]"', "records.fields[0].values[5]", "must be a JSON text"),
        ("true_share = 0.25", "true_share = 2", "records.fields[1].item.fields[1].true_share", "at most 1"),
        ("length = [1, 3]", "length = [3, 1]", "records.fields[1].item.fields[0].length", "[fewest, most]"),
        ("length = [0, 4]", "length = [0, 65]", "records.fields[1].length[1]", "at most 64"),
        ('words = ["a", "b"]', "words = []", "records.fields[1].item.fields[0].words", "1 or more"),
        (
            'separators = [",", ";"]',
            'separators = ["\\n"]',
            "records.fields[1].item.fields[0].separators[0]",
            "printable",
        ),
        ('name = "is_new"', 'name = "code"', "records.fields[1].item.fields[1].name", "must differ from the names"),
        ('name = "is_new"', 'name = "class"', "records.fields[1].item.fields[1].name", "keyword"),
        ('name = "is_new", ', "", "records.fields[1].item.fields[1].name", "must be given"),
        ("item = { gen", 'item = { name = "part", gen', "records.fields[1].item.name", "must be left out of the item"),
        ("low = 1, high = 9", "low = 9, high = 1", "records.fields[1].item.fields[2].item.high", "at least low"),
        (
            'item = { generator = "integer", low = 1, high = 9 }',
            'item = { generator = "list", length = [1, 1], item = { generator = "boolean" } }',
            "records.fields[1].item.fields[2].item.item",
            "nested at most 3 deep",
        ),
        (
            'generator = "boolean", true_share = 0.25',
            'generator = "parent", column = "code"',
            "records.fields[1].item.fields[1].generator",
            "a generator that Python has",
        ),
    ],
)
def test_a_fault_in_mixed_or_nested_values_is_named(old: str, new: str, field: str, rule: str) -> None:
    error = failure(changed(MIXED, old, new))

    assert error.field == field
    assert rule in error.rule


@pytest.mark.parametrize(
    ("old", "new", "field", "rule"),
    [
        ('"null", "1"', '"true", "1"', "candidates.pool[0]", "no boolean"),
        ('column = "id"', 'column = "nodes"', "tables[0].columns[1].column", "earlier serial column of the same table"),
        ('column = "id"', 'column = "parent_id"', "tables[0].columns[1].column", "earlier serial column"),
        ("reach = 3", "reach = 0", "tables[0].columns[1].reach", "at least 1"),
        ("reach = 3", "duplicate_share = 0.5", "tables[0].columns[1].duplicate_share", "must be left out"),
        (
            'generator = "serial"\nstart = 100',
            'generator = "boolean"',
            "tables[0].columns[0].generator",
            "a generator that SQL has",
        ),
    ],
)
def test_a_fault_in_a_hierarchy_is_named(old: str, new: str, field: str, rule: str) -> None:
    error = failure(changed(TREE, old, new))

    assert error.field == field
    assert rule in error.rule


def test_mixed_candidates_are_ranked_as_they_are_written_and_keep_their_types() -> None:
    """No order holds between null and a text, and an answer of `1.0` must not stand for `true`."""
    family = a_family(MIXED, 3)
    pool = parse_shape(MIXED, source="a").candidates.pool
    assert pool is not None
    texts = [json.dumps(json.loads(each.answer)["choice"]) for each in family.forms[0].public.candidates]

    places = [pool.index(text) for text in texts]
    assert len(set(places)) == 4
    assert sorted(places).index(places[family.truth]) == family.truth_rank


def test_types_stand_in_prompt_and_program() -> None:
    families = [a_family(MIXED, ordinal) for ordinal in range(16)]
    shown = {candidate.text for family in families for candidate in family.forms[0].public.candidates}

    assert shown == {"None", "True", "0", "1.5", "'none'", "''"}
    assert families[0].forms[0].public.inputs[0].startswith("records: {")
    assert ": bool | dict | float | int | list | str | None, " in families[0].forms[0].public.inputs[0]
    assert "is_new: bool, sizes: list[int]}] | None}" in families[0].forms[0].public.inputs[0]


def test_a_mixed_shape_is_certified(score: Callable[[Construction], Scoring]) -> None:
    scorings = [score(a_family(MIXED, ordinal)) for ordinal in range(4)]

    assert all(isinstance(assess(scoring, scoring), Accepted) for scoring in scorings)


def test_nested_values_are_what_their_fields_say() -> None:
    """Field by field, over every fixture of a family."""
    family = a_family(MIXED)
    text = json.dumps([json.loads(fixture) for fixture in family.form(Ring.R0).fixtures])
    vocabulary = parse_shape(MIXED, source="a").vocabulary
    words = {slot: next(word for word in choices if f'"{word}":' in text) for slot, choices in vocabulary.items()}
    records = [record for fixture in family.form(Ring.R0).fixtures for record in json.loads(fixture)]
    lists = [record[words["parts"]] for record in records]
    parts = [part for each in lists if each is not None for part in each]

    assert {len(each) for each in lists if each is not None} == {0, 1, 2, 3, 4}
    assert 0.02 < lists.count(None) / len(lists) < 0.25
    assert all(set(part) == {words["code"], "is_new", "sizes"} for part in parts)
    assert {token for part in parts for token in part[words["code"]].replace(";", ",").split(",")} == {"a", "b"}
    assert 0.15 < sum(part["is_new"] for part in parts) / len(parts) < 0.35
    assert all(1 <= size <= 9 for part in parts for size in part["sizes"])


def test_no_row_is_its_own_ancestor() -> None:
    """A recursive query over a cycle would never end; and few rows back make a deep tree."""
    for fixture in a_family(TREE).form(Ring.R0).fixtures:
        connection = sqlite3.connect(":memory:")
        connection.deserialize(fixture)
        [(table,)] = connection.execute("SELECT name FROM sqlite_master")
        parents = dict(connection.execute(f"SELECT id, parent_id FROM {table}").fetchall())
        connection.close()

        assert all(parent is None or id_ - 3 <= parent < id_ for id_, parent in parents.items())
        assert parents[100] is None
        assert max(depth(parents, id_) for id_ in parents) >= 4


@pytest.mark.parametrize(
    ("text", "digest"),
    [
        (MIXED, "f39f7e0359f0ef65fd46395e872cb3806496878752aea2ecf3ef9406154064d7"),
        (TREE, "7bbde76d5f3c2576874b4f09de2c1dd99396c848f2eefe32bd12caf791cd97d3"),
    ],
    ids=["python", "sql"],
)
def test_families_are_the_same_bytes_on_every_machine(text: str, digest: str) -> None:
    """Under any version of Python and of SQLite: a stranger rebuilds what was certified from the seeds alone."""
    built = hashlib.sha256()
    for ordinal in range(4):
        family = a_family(text, ordinal)
        built.update(repr((family.truth, family.nonce, family.literals)).encode())
        for form in family.forms:
            built.update(public_digest(form.public) + fixtures_commitment(form.contents, nonce=family.nonce))
            built.update("".join(form.programs).encode())

    assert built.hexdigest() == digest


def depth(parents: dict[int, int | None], id_: int) -> int:
    parent = parents[id_]
    return 0 if parent is None else 1 + depth(parents, parent)


def test_null_is_a_candidate_in_sql() -> None:
    programs = {program for ordinal in range(16) for program in a_family(TREE, ordinal).forms[0].programs}

    assert any("NULL AS shown" in program for program in programs)
    assert any("'all' AS shown" in program for program in programs)


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**9), 10**9),
    st.integers(-(10**9), 10**9).map(lambda number: number / 1024),
    st.text(max_size=8),
)


@given(scalars)
def test_a_json_text_is_read_as_the_value_and_type_that_it_is(value: object) -> None:
    read = plain_value(read_json(json.dumps(value, ensure_ascii=False)))

    assert (type(read), read) == (type(value), value)


@pytest.mark.parametrize("text", ["1.0", "1", "true"])
def test_one_point_oh_is_not_one(text: str) -> None:
    assert type(read_json(text)) is {"1.0": Decimal, "1": int, "true": bool}[text]


@pytest.mark.parametrize(
    "text", ["", " 1", "01", "+1", "1.", "NaN", "Infinity", "[]", "{}", "'a'", "-0.0", "-0", "1E5", "nul", '"\\u00e4"']
)
def test_what_is_no_scalar_as_json_writes_it_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="as JSON writes it"):
        read_json(text)


def test_every_shipped_shape_of_mixed_candidates_is_read(shapes: dict[str, Shape]) -> None:
    """Ranks of such a pool are those of the file, so an order that changes would change truths."""
    for shape in shapes.values():
        if shape.candidates.type == "json":
            assert [plain_value(value) for value in shape.candidates.ranked] == [
                json.loads(text) for text in shape.candidates.pool or ()
            ]

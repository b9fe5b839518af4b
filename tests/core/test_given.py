"""Explicit fixtures and outputs: whatever form they are written in, they are rows, and the same rules hold."""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Callable

import pytest

from leakscale.models import Condition, Ring
from leakscale_sandbox.canonical_reader import decode_value
from leakscale_server.core.building.construction import Construction, FamilySlot, construct
from leakscale_server.core.building.given import read_given
from leakscale_server.core.building.sql_script import ScriptError, read_inserts
from leakscale_server.core.judging.acceptance import Accepted, Scoring, assess
from leakscale_server.core.judging.rejections import Rejection, RejectionReason
from leakscale_server.core.shapes import ShapeError, parse_shape
from leakscale_server.sandbox_pool import Execution, Verdict

from .texts import changed, failure

SQL_ROWS = [[(number, f"o'{number}", number * 1.5 + shift) for number in range(6)] for shift in range(8)]
PYTHON_ROWS = [[{"size": number, "tags": ["a", {"size": shift}]} for number in range(8)] for shift in range(16)]


def sql_fixture(index: int, kind: str = "sql") -> str:
    """One fixture of the SQL shape in one of its forms."""
    rows = SQL_ROWS[index]
    if kind == "sql":
        values = ", ".join(f"({id_}, '{label.replace(chr(39), 2 * chr(39))}', {amount})" for id_, label, amount in rows)
        return f'sql = """INSERT INTO orders VALUES {values};"""'
    if kind == "csv":
        lines = "".join(f"{amount},{id_},{label}\\n" for id_, label, amount in rows)
        return f'csv = {{ orders = "amount,id,label\\n{lines}" }}'
    rows_by_column = [{"id": id_, "label": label, "amount": amount} for id_, label, amount in rows]
    return f"json = {json.dumps(json.dumps({'orders': rows_by_column}))}"


def sql_shape(kind: str = "sql", *, outputs: bool = False, **changes: str) -> str:
    """An SQL shape with eight explicit fixtures."""
    bounds = (1, 3, 6, 8)

    def output(index: int) -> str:
        kept = [[[id_] for id_, _, amount in SQL_ROWS[index] if amount >= bound] for bound in bounds]
        return f"outputs = {json.dumps([json.dumps(rows) for rows in kept])}\n" if outputs else ""

    fixtures = "".join(f"[[fixtures]]\n{sql_fixture(index, kind)}\n{output(index)}\n" for index in range(8))
    text = f"""\
format = 1
id = "sql-given"
domain = "sql"
title = "Given"

[candidates]
type = "integer"
pool = [1, 3, 6, 8]

[vocabulary]
orders = ["orders", "sales"]
amount = ["amount", "price"]

[[tables]]
name = "orders"
columns = [
    {{ name = "id", generator = "given", type = "integer" }},
    {{ name = "label", generator = "given", type = "text", nullable = true }},
    {{ name = "amount", generator = "given", type = "decimal" }},
]

{fixtures}
[rings.R0]
task = "List id of {{{{orders}}}} of {{{{amount}}}} at least the policy value, in order."
program = "SELECT t.id AS id FROM {{{{orders}}}} AS t WHERE t.{{{{amount}}}} >= {{{{policy}}}} ORDER BY t.id"

[rings.R1]
task = "Which ids of {{{{orders}}}} reach the policy value? In order, please."
program = "SELECT t.id AS id FROM {{{{orders}}}} AS t WHERE NOT t.{{{{amount}}}} < {{{{policy}}}} ORDER BY 1"

[result]
columns = ["id"]
order = "ordered"
"""
    for old, new in changes.items():
        text = text.replace(old, new)
    return text


def python_shape(*, outputs: bool = False) -> str:
    """A Python shape with sixteen explicit fixtures and four whole programs."""

    def fixture(index: int) -> str:
        stated = [json.dumps([{"size": bound, "shift": index}]) for bound in range(4)]
        lines = f"outputs = {json.dumps(stated)}\n" if outputs else ""
        return f"[[fixtures]]\njson = {json.dumps(json.dumps(PYTHON_ROWS[index]))}\n{lines}\n"

    body = (
        "def transform(records):\\n    tags = records[0]['tags']\\n"
        '    return [{"{{{{size}}}}": {bound}, "shift": tags[1]["{{{{size}}}}"]}]'
    )
    programs = json.dumps([body.replace("{bound}", str(bound)) for bound in range(4)]).replace("\\\\n", "\\n")
    programs = programs.replace("{{{{", "{{").replace("}}}}", "}}")
    reworded = programs.replace("return [", "return [][:] + [")
    return f"""\
format = 1
id = "python-given"
domain = "python"
title = "Given"

[candidates]
type = "json"
pool = ["null", "0", "false", "\\"x\\""]

[vocabulary]
size = ["size", "width"]

[records]
fields = [
    {{ name = "size", generator = "given", type = "integer" }},
    {{ name = "tags", generator = "given", type = "json" }},
]

{"".join(fixture(index) for index in range(16))}
[rings.R0]
task = "Return what the policy value says."
programs = {programs}

[rings.R1]
task = "The policy value says what comes back."
programs = {reworded}
"""


def a_family(text: str, ordinal: int = 0, *, attempt: int = 0) -> Construction:
    shape = parse_shape(text, source="shape.toml")
    return construct(
        shape,
        FamilySlot(shape.id, Condition.C0, ordinal),
        families_per_cell=16,
        public_seed=b"p" * 16,
        private_seed=b"s" * 32,
        attempt=attempt,
    )


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


def test_a_fault_in_a_script_is_a_line_of_the_shape_file() -> None:
    """Inline texts have lines; of another file its own line is said."""
    script = 'sql = """\nINSERT INTO orders VALUES (1, \'a\', 2);\nINSERT INTO orders VALUES (now());\n"""'
    inline = failure(changed(sql_shape(), sql_fixture(0), script))
    elsewhere = changed(sql_shape(), sql_fixture(0), 'sql = "one.sql"')
    elsewhere += f'\n[files]\n"one.sql" = {script.removeprefix("sql = ")}\n'
    beside = failure(elsewhere)

    assert inline.line == script_line(inline, "now()", changed(sql_shape(), sql_fixture(0), script))
    assert beside.line == script_line(beside, "one.sql", elsewhere)
    assert beside.rule.startswith("one.sql:2: must have literal values")


def script_line(error: ShapeError, words: str, text: str) -> int:
    assert error.field == "fixtures[0].sql"
    return next(number for number, line in enumerate(text.split("\n"), start=1) if words in line)


@pytest.mark.parametrize(
    ("fixture", "row"),
    [
        ('csv = { orders = """\nid,label,amount\n1,ab,2\nx,a,2\n""" }', "x,a,2"),
        (
            'json = """\n{"orders": [\n  {"id": 1, "label": "[", "amount": 2},\n  {"id": "x",\n'
            '   "label": "a", "amount": 2}\n]}\n"""',
            '"x"',
        ),
        ('sql = """\nINSERT INTO orders VALUES\n  (1, \'a\', 2),\n  (\'x\', \'a\', 2)\n"""', "('x', 'a'"),
    ],
)  # fmt: skip
def test_a_fault_in_a_row_is_named_by_its_line_and_column(fixture: str, row: str) -> None:
    """Of two hundred rows, the author looks for one; text in the row before must not shift it."""
    text = changed(sql_shape(), sql_fixture(0), fixture)
    inline = failure(text)
    kind = fixture.partition(" ")[0]
    script = fixture.split('"""')[1].removeprefix("\n")
    named = f'{kind} = {{ orders = "one.csv" }}' if kind == "csv" else f'{kind} = "one.{kind}"'
    beside = failure(changed(sql_shape(), sql_fixture(0), named) + f'\n[files]\n"one.{kind}" = """\n{script}"""\n')

    assert text.split("\n")[inline.line - 1].count(row) == 1
    assert "integer in id, row 2 of orders" in inline.rule
    assert beside.rule.startswith(f"one.{kind}:{script[: script.index(row)].count(chr(10)) + 1}: ")


def test_a_dump_of_sqlite_is_read() -> None:
    """Authors have databases; `.dump` writes them."""
    source = sqlite3.connect(":memory:")
    source.execute("CREATE TABLE orders (id INTEGER, label TEXT CHECK (label <> ';'), amount REAL)")
    source.executemany("INSERT INTO orders VALUES (?, ?, ?)", [(1, "it's; -- not", 2.5), (2, None, -1e-3)])
    dump = "PRAGMA foreign_keys=OFF;\n" + "\n".join(source.iterdump())
    source.close()
    (first, second) = read_inserts(dump)

    assert (first.table, second.table) == ("orders", "orders")
    assert [list(map(str, row.values)) for row in first.rows] == [["1", "it's; -- not", "2.5"]]
    assert second.rows[0].values[1] is None


@pytest.mark.parametrize(
    "create",
    [
        "CREATE TABLE orders (amount REAL, label TEXT, id INTEGER)",
        'create temp table if not exists main."orders"(`amount` NUMERIC(4, 2) DEFAULT (1), [label], id);',
        "CREATE TABLE orders (amount, label /* of, all */, id, CHECK (id > 0), PRIMARY KEY (id, label))",
    ],
)
def test_rows_without_names_come_in_the_order_of_their_own_create_table(create: str) -> None:
    """Read in the shape's order, two columns of one type would change places without a word."""
    rows = "INSERT INTO orders VALUES (2.5, 'x', 7);"
    shape = parse_shape(changed(sql_shape(), sql_fixture(0), f'sql = """{create};\n{rows}"""'), source="one.toml")

    assert read_given(shape, shape.fixtures[0]) == {"orders": [(7, "x", 2.5)]}


def test_a_dump_of_a_table_that_counts_its_rows_is_read() -> None:
    """SQLite notes the last number and its statistics in tables of its own, and a dump holds them."""
    source = sqlite3.connect(":memory:")
    source.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT, amount REAL)")
    source.execute("CREATE INDEX by_amount ON orders (amount)")
    source.execute("INSERT INTO orders (amount) VALUES (2.5)")
    source.execute("ANALYZE")
    dump = "\n".join(source.iterdump())
    source.close()

    assert "sqlite_sequence" in dump
    assert "sqlite_stat1" in dump
    assert [(each.table, each.columns) for each in read_inserts(dump)] == [("orders", ["id", "amount"])]


@pytest.mark.parametrize(
    ("script", "line", "rule"),
    [
        ("\nCREATE TABLE orders AS SELECT 1 AS id;", 1, "must have the columns of orders in parentheses here"),
        ("\nCREATE TABLE orders (id) AS SELECT 1;", 1, "must have the columns of orders in parentheses here"),
        ("CREATE TABLE t (a, b);\nCREATE TABLE t (b, a);", 1, "must have one CREATE TABLE of a table"),
        ("CREATE TABLE t (a, b);\n\nCREATE TABLE IF NOT EXISTS T (b, a);", 2, "must have one CREATE TABLE of a table"),
        ("CREATE TABLE t (a);\nCREATE TEMP TABLE main.t (a);", 1, "must have one CREATE TABLE of a table"),
        ("INSERT INTO t VALUES (1);\nCREATE TABLE t (a);", 1, "must have the CREATE TABLE of a table before its rows"),
        ("", 0, "must hold INSERT statements, or the CREATE TABLE of a table without rows"),
        ("-- nothing yet\n;\nBEGIN; COMMIT;", 0, "must hold INSERT statements, or the CREATE TABLE of a table"),
    ],
)
def test_a_script_whose_tables_could_be_read_in_two_ways_is_refused(script: str, line: int, rule: str) -> None:
    """Passed over in silence, rows would be missing or their values in other columns."""
    with pytest.raises(ScriptError) as raised:
        list(read_inserts(script))

    assert raised.value.line == line
    assert raised.value.rule.startswith(rule)


def test_a_table_that_is_created_alone_has_no_rows() -> None:
    """A dump of an empty table is whole; an empty file is a slip."""
    assert list(read_inserts("CREATE TABLE orders (id, label);")) == []


def test_a_create_table_with_other_columns_is_refused() -> None:
    """Its rows are not those of the shape, whatever their number."""
    script = "CREATE TABLE orders (id INTEGER, label TEXT, price REAL);\nINSERT INTO orders VALUES (1, 'x', 2.5);"
    error = failure(changed(sql_shape(), sql_fixture(0), f'sql = """{script}"""'))

    assert "must have the columns id, label, amount, each once" in error.rule
    assert "price" in error.value


@pytest.mark.parametrize(
    "script",
    [
        "INSERT INTO t SELECT 1",
        "INSERT INTO t VALUES (1), ",
        "INSERT INTO t VALUES 1",
        "INSERT OR REPLACE INTO t VALUES (1)",
        "DELETE FROM t",
        "ATTACH 'x' AS y",
        "INSERT INTO t VALUES (1 + 1)",
        "INSERT INTO t VALUES (x'00')",
        "'",
        "(",
        "INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING",
        "INSERT INTO t VALUES (TRUE)",
        "INSERT INTO t DEFAULT VALUES",
        "INSERT INTO main.t VALUES (1)",
        'INSERT INTO t VALUES ("x")',
        "SELECT load_extension('x')",
    ],
)
def test_a_script_of_anything_but_rows_is_refused(script: str) -> None:
    """It is read and never executed, so what it would do is not looked for."""
    with pytest.raises(ScriptError):
        list(read_inserts(script))


def test_a_long_script_is_read_in_time_that_grows_with_its_length() -> None:
    """An author's text must not hold the server up."""
    assert len(list(read_inserts("INSERT INTO t VALUES (1);\n" * 9_000))) == 9_000
    for letter in ("'", "(", "/* ", "/*", "-", '"', "[", "''", " ", "1"):
        with pytest.raises(ScriptError):
            list(read_inserts("INSERT INTO t VALUES " + letter * 200_000 + "x"))

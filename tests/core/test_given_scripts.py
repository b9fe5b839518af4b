"""Scripts of SQL that give tables: rows and nothing else, read as SQLite would, each fault on its line."""

from __future__ import annotations

import sqlite3

import pytest

from leakscale_server.core.building.given import read_given
from leakscale_server.core.building.sql_script import ScriptError, read_inserts
from leakscale_server.core.shapes import ShapeError, parse_shape

from .given_shapes import sql_fixture, sql_shape
from .texts import changed, failure


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

"""A shape file is read strictly, and whatever is wrong with it is said with file, line, field, rule and value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscale_server.core.shapes import ShapeError, parse_shape

from .example_shapes import PYTHON, SQL
from .texts import changed, failure


def test_the_examples_are_shapes() -> None:
    """Otherwise every test below would prove nothing."""
    assert parse_shape(SQL, source="a").is_ordered
    assert parse_shape(PYTHON, source="b").fixture_count == 16


def test_error_names_file_line_field_rule_and_value() -> None:
    error = failure(changed(SQL, "high = 50\nnear", "high = -3\nnear"))

    assert str(error) == "shape.toml:36: tables[1].columns[1].high: must be at least low, 0; got -3"
    assert (error.file, error.line, error.field) == ("shape.toml", 36, "tables[1].columns[1].high")
    assert (error.rule, error.value) == ("must be at least low, 0", "-3")


SQL_FAULTS = [
    # syntax
    ("format = 1", "format = ", 1, "", "must be TOML"),
    ('title = "An example"', 'title = "An example', 4, "", "must be TOML"),
    ('domain = "sql"', 'domain = "sql"\ndomain = "sql"', 4, "", "must be TOML"),
    # single fields
    ("format = 1", "format = 2", 1, "format", "must be at most 1"),
    ("format = 1\n", "", 1, "format", "must be given"),
    ("format = 1", "format = true", 1, "format", "must be an integer"),
    ('title = "An example"', 'titel = "An example"', 1, "title", "must be given"),
    ('title = "An example"', 'title = "An example"\nauthor = "me"', 5, "author", "must be left out"),
    ('id = "sql-example"', 'id = "SQL example"', 2, "id", "lower-case words joined by dashes"),
    ('domain = "sql"', 'domain = "cobol"', 3, "domain", "must be 'sql' or 'python'"),
    ('type = "integer"', 'type = "complex"', 7, "candidates.type", "must be one of"),
    ('type = "integer"\n', "", 6, "candidates.type", "must be given"),
    ("low = 0, high = 50", "low = 0.5, high = 50", 8, "candidates.range.low", "must be an integer"),
    ("distance = 5", "distance = 0", 8, "candidates.range.distance", "must be at least 1"),
    ("high = 50, step", "high = 2000000000000, step", 8, "candidates.range.high", "must be at most"),
    ("step = 1", "step = true", 8, "candidates.range.step", "must be an integer"),
    ("rows = [4, 6]", "rows = [0, 6]", 16, "tables[0].rows[0]", "must be at least 1"),
    ("rows = [4, 6]", "rows = [4, 201]", 16, "tables[0].rows[1]", "must be at most 200"),
    ("rows = [4, 6]", "rows = [4]", 16, "tables[0].rows", "another entry"),
    ('generator = "serial"', 'generator = "random"', 20, "tables[0].columns[0].generator", "must be one of"),
    ("near_candidates = 0.5", "near_candidates = 1.5", 37, "tables[1].columns[1].near_candidates", "must be at most"),
    ("null_share = 0.25", "null_share = -0.1", 43, "tables[1].columns[2].null_share", "must be at least"),
    ("null_share = 0.25", "null_share = 0.00001", 43, "tables[1].columns[2].null_share", "decimal places"),
    ("null_share = 0.25", "null_share = nan", 43, "tables[1].columns[2].null_share", "finite"),
    ('values = ["red", "blue"]', "values = []", 42, "tables[1].columns[2].values", "1 or more"),
    ('name = "color"', 'name = "Color; DROP"', 40, "tables[1].columns[2].name", "lower-case identifier"),
    ('order = "ordered"', 'order = "sorted"', 56, "result.order", "must be 'ordered' or 'bag'"),
    # between fields
    ('id = "sql-example"', 'id = "python-example"', 2, "id", "begin with its domain"),
    ("range = { low = 0, high = 50, step = 1, distance = 5 }", "", 6, "candidates", "either pool or range"),
    ("distance = 5 }", "distance = 5 }\npool = [1, 2, 3, 4]", 6, "candidates", "either pool or range"),
    ("distance = 5 }", "distance = 17 }", 8, "candidates.range", "at least 4 values"),
    ("low = 0, high = 50", "low = 60, high = 50", 8, "candidates.range.high", "at least low, 60"),
    ("range = { low = 0, high = 50, step = 1, distance = 5 }", "pool = [1, 2, 3]", 8, "candidates.pool", "4 or more"),
    (
        "range = { low = 0, high = 50, step = 1, distance = 5 }",
        "pool = [1, 2, 3, 3]",
        8,
        "candidates.pool[3]",
        "must differ",
    ),
    (
        "range = { low = 0, high = 50, step = 1, distance = 5 }",
        "pool = [1, 2, 3, true]",
        8,
        "candidates.pool[3]",
        "integer",
    ),
    ('["orders", "sales"]', '["orders", "select"]', 11, "vocabulary.orders[1]", "keyword"),
    ('["orders", "sales"]', '["orders", "lambda"]', 11, "vocabulary.orders[1]", "keyword"),
    ('["orders", "sales"]', '["orders", "price"]', 12, "vocabulary.amount[1]", "one thing only"),
    ('["orders", "sales"]', '["orders", "color"]', 11, "vocabulary.orders[1]", "one thing only"),
    ('["orders", "sales"]', '["orders", "orders"]', 11, "vocabulary.orders[1]", "one thing only"),
    (
        'amount = ["amount", "price"]',
        'amount = ["amount", "price"]\nunused = ["x", "y"]',
        13,
        "vocabulary.unused",
        "must be used by",
    ),
    (
        'amount = ["amount", "price"]',
        'amount = ["amount", "price"]\npolicy = ["x", "y"]',
        13,
        "vocabulary.policy",
        "masked value",
    ),
    ('name = "color"', 'name = "group"', 40, "tables[1].columns[2].name", "keyword"),
    ('name = "color"', 'name = "person_id"', 40, "tables[1].columns[2].name", "must differ from the names"),
    ('name = "people"', 'name = "orders"', 23, "tables[1].name", "must differ from the names"),
    ("rows = [4, 6]", "rows = [6, 4]", 16, "tables[0].rows", "[fewest, most]"),
    ('table = "people"', 'table = "places"', 29, "tables[1].columns[0].table", "earlier table"),
    ('table = "people"', 'table = "orders"', 29, "tables[1].columns[0].table", "earlier table"),
    ('column = "id"', 'column = "name"', 30, "tables[1].columns[0].column", "must name a column"),
    ('values = ["red", "blue"]', 'values = ["red", 1]', 42, "tables[1].columns[2].values", "one type"),
    ('values = ["red", "blue"]', "values = [true, false]", 42, "tables[1].columns[2].values", "no booleans"),
    (
        "null_share = 0.25",
        "near_candidates = 0.25",
        43,
        "tables[1].columns[2].near_candidates",
        "of its column's type, string",
    ),
    ("low = 0\nhigh = 50", "low = 0\nhigh = 1000000000000", 32, "tables[1].columns[1].step", "at most 1000000000"),
    ('name = "people"', 'name = "sqlite_people"', 15, "tables[0].name", "must not begin with sqlite_"),
    ('columns = ["amount"]', 'columns = ["amount", "amount"]', 55, "result.columns[1]", "must differ"),
    ('title = "An example"', 'title = "An example"\n"a\\nb" = 1', 1, "'a\\nb'", "must be left out"),
    # task and program
    ("{{orders}} of at", "{{ orders }} of at", 46, "rings.R0.task", "without spaces"),
    ("FROM {{orders}}", "FROM {{ORDERS}}", 49, "rings.R0.program", "without spaces"),
    ("policy value, in", "{{policy}}, in", 46, "rings.R0.task", "leave the masked value open"),
    ("the policy value, in", "it, in", 46, "rings.R0.task", "say what 'the policy value' decides, in these words"),
    ("of {{orders}} of", "of {{order}} of", 46, "rings.R0.task", "must name a slot of [vocabulary]"),
    ("value, in order.", "value.\\nCandidates:", 46, "rings.R0.task", "must be one line"),
    (">= {{policy}}", ">= 5", 48, "rings.R0.program", "exactly once"),
    (">= {{policy}}", "> {{policy}} - {{policy}}", 50, "rings.R0.program", "exactly once"),
    (">= {{policy}}", ">= '{{policy}}'", 50, "rings.R0.program", "no quotes beside"),
    ("FROM {{orders}}", "FROM {{order}}", 49, "rings.R0.program", "must name a slot of [vocabulary]"),
    ("ORDER BY t.{{amount}}", "", 50, "rings.R0.program", "outermost ORDER BY"),
    ("ORDER BY t.{{amount}}", "-- ORDER BY t.id", 50, "rings.R0.program", "outermost ORDER BY"),
    ("ORDER BY t.{{amount}}", "; DROP TABLE x", 51, "rings.R0.program", "semicolon"),
    ("SELECT t.", "DELETE t.", 48, "rings.R0.program", "SELECT or WITH"),
    ("AS {{amount}}\n", "AS total\n", 48, "rings.R0.program", "must return the columns of [result]"),
    ("ORDER BY t.{{amount}}", "ORDER BY t.{{amount}} -- \\u0000", 51, "rings.R0.program", "printable"),
    ("[rings.R0]", "[rings.R3]", 45, "rings.R0", "must be given"),
]


@pytest.mark.parametrize(("old", "new", "line", "field", "rule"), SQL_FAULTS)
def test_a_fault_in_an_sql_shape_is_named(old: str, new: str, line: int, field: str, rule: str) -> None:
    error = failure(changed(SQL, old, new))

    assert (error.line, error.field) == (line, field)
    assert rule in error.rule


@pytest.mark.parametrize(
    ("old", "new", "line", "field", "rule"),
    [
        ('["ab", "cd", "ef", "gh", "ij"]', '["ab", "cd", "ef"]', 8, "candidates.pool", "4 or more"),
        ('"ij"]', '"i\\nj"]', 8, "candidates.pool[4]", "printable"),
        ('"ij"]', "7]", 8, "candidates.pool[4]", "text in quotes"),
        ('"ij"]', '"ab"]', 8, "candidates.pool[4]", "must differ"),
        ("length = [2, 3]", "length = [3, 2]", 17, "records.fields[0].length", "[fewest, most]"),
        ('"abcdefghij"', '"a\\u0000b"', 16, "records.fields[0].alphabet", "printable"),
        ("[records]\nrows = [4, 8]", "[records]", 10, "records.rows", "must be given"),
        ("def transform", "def transfrom", 23, "rings.R0.program", "define transform(records) once"),
        ("def transform(records)", "def transform()", 23, "rings.R0.program", "with one argument"),
        ("def transform(records):", "def transform(records)", 23, "rings.R0.program", "must be a Python module"),
        ("{{policy}}", '"{{policy}}"', 24, "rings.R0.program", "no quotes beside"),
        ("{{policy}}", "'ab'", 23, "rings.R0.program", "exactly once"),
    ],
)
def test_a_fault_in_a_python_shape_is_named(old: str, new: str, line: int, field: str, rule: str) -> None:
    error = failure(changed(PYTHON, old, new))

    assert (error.line, error.field) == (line, field)
    assert rule in error.rule


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'order = "ordered"',
            'order = ["ordered", 1]',
            "56: result.order: must be 'ordered' or 'bag'; got ['ordered', 1]",
        ),
        (
            'type = "integer"',
            "type = 2024-01-01",
            "candidates.type: must be one of 'integer', 'decimal', 'string', 'date'",
        ),
        ("rows = [4, 6]", "rows = 2024-01-01", "16: tables[0].rows: must be an array; got 2024-01-01"),
        ("rows = [4, 6]", "rows = { fewest = 4 }", "16: tables[0].rows: must be an array; got a table"),
        ("[result]", "[[result]]", "54: result: must be a table; got [a table]"),
        ("null_share = 0.25", "null_share = true", "43: tables[1].columns[2].null_share: must be a number; got true"),
        (
            'generator = "serial"',
            'generator = "random"',
            "20: tables[0].columns[0].generator: must be one of 'serial', 'choice', 'boolean', 'json', 'integer', "
            "'decimal', 'date', 'text', 'tokens', 'reference', 'parent', 'given', 'list', 'record'; got 'random'",
        ),
    ],
)
def test_a_value_is_shown_as_its_file_writes_it(old: str, new: str, message: str) -> None:
    """An author who writes TOML need not know how Python prints a date or a table."""
    assert message in str(failure(changed(SQL, old, new)))


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ('range = { low = "2024-01-20", high = 2024-03-01, distance = 5 }', "low: must be a date without quotes"),
        (
            "range = { low = 1850-01-01, high = 2024-03-01, distance = 5 }",
            "must be at least 1900-01-01; got 1850-01-01",
        ),
        ("pool = [2024-01-01, 2024-01-02, 2024-01-03, 2024-01-01]", "before it; got 2024-01-01"),
    ],
)
def test_a_date_is_told_how_to_be_written(candidates: str, message: str) -> None:
    """`must be a valid date; got '2024-01-20'` looks like a contradiction."""
    text = SQL.replace('type = "integer"', 'type = "date"').replace("near_candidates = 0.5\n", "")
    text = changed(text, "range = { low = 0, high = 50, step = 1, distance = 5 }", candidates)

    assert message in str(failure(text))


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n", "\ufeff"])
def test_an_empty_file_is_called_empty(text: str) -> None:
    """Whoever saved nothing is not helped by the first field that is missing."""
    assert str(failure(text)) == "shape.toml:1: must hold a shape; the file is empty"


def test_a_byte_order_mark_is_no_part_of_the_file() -> None:
    """Some editors write one; nobody sees it."""
    assert parse_shape("\ufeff" + SQL, source="a") == parse_shape(SQL, source="a")


@pytest.mark.parametrize(
    "text", ["x\u3164", "\u115f", "e\u0301", "x\u00ad", "x\ufe0f", "x\u2800", "x\u200b", "\U000e0041"]
)
def test_text_that_is_not_what_it_looks_like_is_refused(text: str) -> None:
    """Two candidates that look alike are one question with two answers."""
    pool = failure(changed(PYTHON, '"ij"]', f'"{text}"]'))
    alphabet = failure(changed(PYTHON, '"abcdefghij"', f'"abc{text}"'))
    task = failure(changed(SQL, "value, in order.", f"value, in order {text}."))

    assert {error.rule for error in (pool, alphabet, task)} == {
        "must be printable, in Unicode's form NFC and without invisible letters"
    }
    assert pool.value.isascii()


def test_letters_that_compose_are_no_alphabet() -> None:
    """Drawn beside one another they would be a text that is not NFC."""
    assert "compose" in failure(changed(PYTHON, '"abcdefghij"', '"\u1161\u1112"')).rule


def test_the_first_fault_in_the_file_is_reported() -> None:
    """An author reads from the top."""
    text = SQL.replace('order = "ordered"', 'order = "sorted"').replace("rows = [4, 6]", "rows = [0, 6]")

    assert failure(text).line == 16


def test_a_decimal_stays_exact() -> None:
    """0.1 as a double is not a tenth, and a grid of tenths would miss its candidates."""
    text = SQL.replace('type = "integer"', 'type = "decimal"').replace("step = 1,", "step = 0.1,")
    shape = parse_shape(text.replace("near_candidates = 0.5\n", ""), source="a")

    assert shape.candidates.range is not None
    assert str(shape.candidates.range.at(3)) == "0.3"


def test_a_date_with_a_time_is_refused() -> None:
    text = SQL.replace('type = "integer"', 'type = "date"').replace(
        "low = 0, high = 50", "low = 2024-01-01T00:00:00, high = 2024-03-01", 1
    )

    assert failure(text.replace("near_candidates = 0.5\n", "")).field == "candidates.range.low"


def test_a_file_that_is_too_large_is_refused_before_it_is_parsed() -> None:
    assert "at most 262144 bytes" in failure("#" + "x" * 270_000).rule


@pytest.mark.parametrize(
    "text",
    ["a = " + "[" * 900, "a = " + "\n[" * 30_000, "a = " + "9" * 900, "a.b" + ".c" * 20_000 + " = 1", "\ud800 = 1"],
)
def test_text_that_breaks_a_parser_is_a_shape_error(text: str) -> None:
    """Nesting, huge numbers and surrogates must not crash the server."""
    assert failure(text).file == "shape.toml"


@given(st.text(max_size=200))
def test_any_text_is_a_shape_or_a_shape_error(text: str) -> None:
    with pytest.raises(ShapeError):
        parse_shape(text, source="a")


@given(st.integers(0, len(SQL) - 1), st.sampled_from(["", '"', "[", "]", "=", "-", "{", "0", "\n", "#"]))
def test_a_damaged_shape_is_a_shape_or_a_shape_error(place: int, letter: str) -> None:
    """One letter replaced anywhere: never another exception."""
    try:
        parse_shape(SQL[:place] + letter + SQL[place + 1 :], source="a")
    except ShapeError as error:
        assert 1 <= error.line <= SQL.count("\n") + 2

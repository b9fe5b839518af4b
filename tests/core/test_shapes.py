"""A shape file is read strictly, and whatever is wrong with it is said with file, line, field, rule and value."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscale_server.core.shapes import Shape, ShapeError, parse_shape

from .texts import changed, failure

SQL = '''\
format = 1
id = "sql-example"
domain = "sql"
title = "An example"

[candidates]
type = "integer"
range = { low = 0, high = 50, step = 1, distance = 5 }

[vocabulary]
orders = ["orders", "sales"]
amount = ["amount", "price"]

[[tables]]
name = "people"
rows = [4, 6]

[[tables.columns]]
name = "id"
generator = "serial"

[[tables]]
name = "orders"
rows = [8, 12]

[[tables.columns]]
name = "person_id"
generator = "reference"
table = "people"
column = "id"

[[tables.columns]]
name = "amount"
generator = "integer"
low = 0
high = 50
near_candidates = 0.5

[[tables.columns]]
name = "color"
generator = "choice"
values = ["red", "blue"]
null_share = 0.25

[rings.R0]
task = "List {{amount}} of {{orders}} of at least the policy value, in order."
program = """
SELECT t.{{amount}} AS {{amount}}
FROM {{orders}} AS t
WHERE t.{{amount}} >= {{policy}}
ORDER BY t.{{amount}}
"""

[result]
columns = ["amount"]
order = "ordered"

[rings.R1]
task = "Which {{amount}} of {{orders}} reach the policy value? Give them in order."
program = """
SELECT t.{{amount}} AS {{amount}}
FROM {{orders}} AS t
WHERE NOT t.{{amount}} < {{policy}}
ORDER BY 1
"""
'''

PYTHON = """\
format = 1
id = "python-example"
domain = "python"
title = "An example"

[candidates]
type = "string"
pool = ["ab", "cd", "ef", "gh", "ij"]

[records]
rows = [4, 8]

[[records.fields]]
name = "code"
generator = "text"
alphabet = "abcdefghij"
length = [2, 3]
near_candidates = 0.5

[rings.R0]
task = "Return each code that starts with the policy value."
program = '''
def transform(records):
    return [record["code"] for record in records if record["code"].startswith({{policy}})]
'''

[rings.R1]
task = "Which codes begin with the policy value?"
program = '''
def transform(records):
    return [each["code"] for each in records if each["code"].find({{policy}}) == 0]
'''

[[records.fields]]
name = "size"
generator = "serial"

[vocabulary]
size = ["size", "width"]
"""


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
    ("old", "new", "line", "slot"),
    [
        ("FROM {{orders}}", "FROM orders", 49, "orders"),
        ("FROM {{orders}}", 'FROM "orders"', 49, "orders"),
        (">= {{policy}}", ">= {{policy}} AND t.AMOUNT > 0", 50, "amount"),
    ],
)
def test_a_slot_without_braces_is_refused_in_sql(old: str, new: str, line: int, slot: str) -> None:
    """It is right in the families whose word is the slot's own name, so a certification would pass in part."""
    error = failure(changed(SQL, old, new))

    assert (error.line, error.field) == (line, "rings.R0.program")
    assert f"must write the slot {slot} as {{{{{slot}}}}}" in error.rule


@pytest.mark.parametrize("condition", ["'orders' <> ''", "1 -- of orders", "1 /* orders */", "t.orders_ > 0"])
def test_a_slot_in_a_string_a_comment_or_a_longer_name_is_no_slot(condition: str) -> None:
    """Words of a comment mean nothing."""
    parse_shape(changed(SQL, ">= {{policy}}\n", f">= {{{{policy}}}} AND {condition}\n"), source="a")


@pytest.mark.parametrize("use", ['record["code"]', 'record.get("code", "")', "code"])
def test_a_slot_without_braces_is_refused_in_python(use: str) -> None:
    """A field of another name is a KeyError in all other families."""
    text = PYTHON + 'code = ["code", "label"]\n'
    good = text.replace('record["code"]', 'record["{{code}}"]').replace('each["code"]', 'each["{{code}}"]')
    parse_shape(good, source="a")
    parse_shape(good.replace("transform(records):\n", "transform(records):\n    code = 'code'\n    code\n"), source="a")
    error = failure(changed(good, 'if record["{{code}}"]', f"if {use}"))

    assert (error.line, error.field) == (24, "rings.R0.program")
    assert "must write the slot code as {{code}}" in error.rule


@pytest.mark.parametrize(
    ("old", "new"), [("{{policy}}", "{{ policy }}"), ("{{policy}}", "{{Policy}}"), ("{{amount}} AS", "{{ amount}} AS")]
)
def test_a_placeholder_with_spaces_or_capitals_is_named(old: str, new: str) -> None:
    """`must hold {{policy}} exactly once` says nothing to whoever sees it there."""
    error = failure(changed(SQL, old, new))

    assert "in lower case and without spaces" in error.rule
    assert error.value == f"'{new.removesuffix(' AS')}'"


def test_a_placeholder_with_spaces_is_named_in_python_too() -> None:
    error = failure(changed(PYTHON, "{{policy}}", "{{ policy }}"))

    assert (error.line, error.value) == (24, "'{{ policy }}'")
    assert "must write {{policy}} in lower case and without spaces" in error.rule


def test_a_line_of_python_is_shown_as_it_was_written() -> None:
    """With its placeholders, not with what the parser was given for them."""
    error = failure(changed(PYTHON, "    return [", "    retrun [").replace(" for record in records if ", " if "))

    assert (error.line, error.value) == (
        24,
        """'retrun [record["code"] if record["code"].startswith({{policy}})]'"""[:57] + "...",
    )


@pytest.mark.parametrize("opening", ['"""', '"""\n', '"""\n\n'])
def test_a_place_in_a_program_is_a_line_of_the_file(opening: str) -> None:
    """Wherever its string begins."""
    text = changed(SQL, '"""\nSELECT', f"{opening}SELECT")
    error = failure(changed(text, "FROM {{orders}}", "FROM {{order}}"))

    assert text.split("\n")[error.line - 1] == "FROM {{orders}} AS t"


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


def test_the_renamed_ring_is_not_written() -> None:
    """It is R0 with other words; a text for it would be read by nobody."""
    ring = '[rings.R2]\ntask = "Say it otherwise, with the policy value."\nprogram = "SELECT {{policy}} AS amount"\n'
    error = failure(SQL.replace("[result]", ring + "\n[result]"))

    assert (error.line, error.field) == (54, "rings.R2")
    assert error.rule == "must be left out; the format has no such field"


R1_FAULTS = [
    # what it must have of its own
    ("Which {{amount}} of {{orders}} reach the policy value? Give them in order.", "List {{amount}} of {{orders}} of at"
     " least the policy value, in order.", "task", "in other words"),
    ("WHERE NOT t.{{amount}} < {{policy}}\nORDER BY 1", "  WHERE t.{{amount}} >= {{policy}} ORDER BY t.{{amount}}",
     "program", "another program"),
    # what holds for R0, too
    ("reach the policy value", "reach it", "task", "say what 'the policy value' decides, in these words"),
    ("reach the policy value", "reach the {{policy}}", "task", "leave the masked value open"),
    ("< {{policy}}", "< 5", "program", "exactly once"),
    ("ORDER BY 1", "", "program", "outermost ORDER BY"),
    ("NOT t.{{amount}}", "NOT t.amount", "program", "must write the slot amount"),
    ("NOT t.{{amount}}", "NOT t.{{price}}", "program", "must name a slot"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "field", "rule"), R1_FAULTS)
def test_a_fault_in_the_rewording_is_named(old: str, new: str, field: str, rule: str) -> None:
    """Every rule of R0 holds for R1, and it must be another wording and another program."""
    head, ring = SQL.split("[rings.R1]")
    error = failure(head + "[rings.R1]" + changed(ring, old, new))

    assert error.field == f"rings.R1.{field}"
    assert error.line >= 58
    assert rule in error.rule


def test_an_error_in_one_of_four_programs_is_on_a_line_of_its_own() -> None:
    """Four whole programs are one array; that its first line is wrong helps nobody."""
    page = Path(__file__).parents[2].joinpath("docs", "write-a-family.md").read_text(encoding="utf-8")
    [text] = re.findall(r"```toml file=rounding-names.toml\n(.*?)```", page, re.DOTALL)
    wrong = 'math.floor(record["{{prize}}"]) for'
    broken = changed(text, wrong.replace("prize", "price"), wrong)
    error = failure(broken)

    assert error.field == "rings.R0.programs[1]"
    assert wrong in broken.split("\n")[error.line - 1]


def test_each_ring_returns_the_columns_of_the_result() -> None:
    """R1's output is compared with R0's, names included."""
    head, ring = SQL.split("[rings.R1]")
    error = failure(head + "[rings.R1]" + changed(ring, "AS {{amount}}", "AS cost"))

    assert error.field == "rings.R1.program"


@pytest.mark.parametrize(
    ("old", "new", "field", "rule"),
    [
        ('orders = ["orders", "sales"]', 'orders = ["orders"]', "vocabulary.orders", "2 or more"),
        (
            '[vocabulary]\norders = ["orders", "sales"]\namount = ["amount", "price"]\n',
            "",
            "vocabulary",
            "must be given",
        ),
        ('name = "orders"', 'name = "things"', "vocabulary", "must have a slot that a table, a column or a field"),
    ],
)
def test_there_must_be_something_to_rename(old: str, new: str, field: str, rule: str) -> None:
    """R2 without another name would be R0."""
    text = changed(SQL, 'name = "amount"', 'name = "sum_of_it"')
    error = failure(changed(text, old, new))

    assert error.field == field
    assert rule in error.rule


WHOLE = """programs = [
"def transform(records):\\n    return len(records) == 1",
"def transform(records):\\n    return len(records) == 2",
"def transform(records):\\n    return len(records) == 3",
"def transform(records):\\n    return len(records) == 4",
]
"""


def whole(programs: str = WHOLE, pool: str = '["ab", "cd", "ef", "gh"]') -> str:
    """A Python shape with four whole programs in R0."""
    head, rest = PYTHON.split("program = '''", 1)
    text = head + programs + rest.split("'''\n", 1)[1]
    return changed(text, '["ab", "cd", "ef", "gh", "ij"]', pool)


def test_four_whole_programs_stand_for_four_values() -> None:
    """Where one masked value is not enough to say what a value changes."""
    assert len(parse_shape(whole(), source="a").rings.R0.templates) == 4


@pytest.mark.parametrize(
    ("text", "field", "rule"),
    [
        (whole(pool='["ab", "cd", "ef", "gh", "ij"]'), "rings.R0.programs", "a pool of exactly 4 values"),
        (whole(pool='["cd", "ab", "ef", "gh"]'), "candidates.pool", "in ascending order"),
        (whole(WHOLE.replace("== 2", "== 1")), "rings.R0.programs[1]", "must differ"),
        (whole(WHOLE.replace("== 2", "== {{policy}}")), "rings.R0.programs[1]", "must be whole"),
        (whole(WHOLE.replace("def transform", "def transfrom", 1)), "rings.R0.programs[0]", "define transform"),
        (whole(WHOLE + "program = 'x'\n"), "rings.R0", "either program or programs"),
        (whole(""), "rings.R0", "either program or programs"),
    ],
)
def test_a_fault_in_whole_programs_is_named(text: str, field: str, rule: str) -> None:
    error = failure(text)

    assert error.field == field
    assert rule in error.rule


def test_parts_of_the_other_domain_are_refused() -> None:
    """A Python shape with a table would be a table that nothing reads."""
    tables = SQL[SQL.index("[[tables]]") : SQL.index("[rings.R0]")]
    records = PYTHON[PYTHON.index("[records]") : PYTHON.index("[rings.R0]")]
    result = SQL[SQL.index("[result]") : SQL.index("[rings.R1]")]

    assert failure(PYTHON + tables.replace("near_candidates = 0.5\n", "")).field == "tables"
    assert failure(PYTHON + result).field == "result"
    assert failure(SQL + records.replace("near_candidates = 0.5\n", "")).field == "records"
    fields = PYTHON[PYTHON.index('[[records.fields]]\nname = "size"') : PYTHON.index("[vocabulary]")]
    assert "must be given in a Python shape" in failure(PYTHON.replace(records, "").replace(fields, "")).rule
    assert "must be given in an SQL shape" in failure(SQL.replace(result, "")).rule


def test_a_bag_needs_no_order() -> None:
    text = SQL.replace('order = "ordered"', 'order = "bag"').replace("ORDER BY t.{{amount}}\n", "")

    assert not parse_shape(text, source="a").is_ordered


def test_an_inner_order_is_not_the_order_of_the_result() -> None:
    """`SELECT … FROM (… ORDER BY …)` promises nothing about its own rows."""
    text = SQL.replace("ORDER BY t.{{amount}}\n", "").replace("FROM {{orders}} AS t", "FROM (SELECT 1 ORDER BY 1) AS t")

    assert "outermost ORDER BY" in failure(text).rule


def test_the_first_fault_in_the_file_is_reported() -> None:
    """An author reads from the top."""
    text = SQL.replace('order = "ordered"', 'order = "sorted"').replace("rows = [4, 6]", "rows = [0, 6]")

    assert failure(text).line == 16


def test_a_multi_line_program_does_not_shift_lines() -> None:
    """Its text may look like TOML; the lines after it must still be right."""
    text = SQL.replace("SELECT t.", "-- [rings.R0]\n-- order = 1\nSELECT t.").replace('"ordered"', '"sorted"')

    assert failure(text).line == 58


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


@pytest.mark.parametrize(
    "body", ["-\n" * 1800 + "1", "(\n" * 1800, "not\n" * 900 + "1", "a.\n" * 1200 + "b", "[\n" * 1800]
)
def test_a_deeply_nested_program_does_not_crash_the_server(body: str) -> None:
    """It is parsed in the server's own process; running it is the sandbox's business."""
    text = PYTHON.replace("    return [", f"    value = ({body})\n    return [", 1)

    with contextlib.suppress(ShapeError):
        parse_shape(text, source="a")


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


def test_every_word_of_the_catalog_is_an_identifier(shapes: dict[str, Shape]) -> None:
    """Words stand unquoted in DDL and in queries."""
    connection = sqlite3.connect(":memory:")
    words = {word for shape in shapes.values() for words in shape.vocabulary.values() for word in words}
    for word in words:
        connection.execute(f"CREATE TABLE {word}_ AS SELECT 1 AS {word}")
        connection.execute(f"CREATE TABLE {word} ({word} INTEGER)")
    connection.close()


def test_every_keyword_that_sqlite_refuses_is_refused_here() -> None:
    """Source: https://sqlite.org/lang_keywords.html, of which SQLite takes many as names anyway."""
    connection = sqlite3.connect(":memory:")
    refused = set()
    for word in SQLITE_KEYWORDS.split():
        try:
            connection.execute(f"SELECT t.{word} AS {word} FROM (SELECT 1 AS {word}) AS t ORDER BY t.{word}")
            connection.execute(f"CREATE TABLE {word} ({word} INTEGER)")
        except sqlite3.OperationalError:
            refused.add(word)
    connection.close()
    old, line = '["orders", "sales"]', 11

    for word in sorted(refused):
        error = failure(changed(SQL, old, f'["orders", "{word}"]'))
        assert (error.line, error.rule) == (line, "must be no keyword; choose another word")


def test_file_names_are_shape_ids(shapes: dict[str, Shape]) -> None:
    """A shape is found by its name."""
    files = {f"{path.parent.name}-{path.stem}" for path in (Path(__file__).parents[2] / "catalogs").glob("*/*.toml")}

    assert set(shapes) == files
    assert {re.split("-", name)[0] for name in files} == {"sql", "python"}


SQLITE_KEYWORDS = """
abort action add after all alter always analyze and as asc attach autoincrement before begin between by cascade case
cast check collate column commit conflict constraint create cross current current_date current_time current_timestamp
database default deferrable deferred delete desc detach distinct do drop each else end escape except exclude exclusive
exists explain fail filter first following for foreign from full generated glob group groups having if ignore immediate
in index indexed initially inner insert instead intersect into is isnull join key last left like limit match
materialized natural no not nothing notnull null nulls of offset on or order others outer over partition plan pragma
preceding primary query raise range recursive references regexp reindex release rename replace restrict returning right
rollback row rows savepoint select set table temp temporary then ties to transaction trigger unbounded union unique
update using vacuum values view virtual when where window with without
"""

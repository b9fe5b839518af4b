"""Programs of a shape file: their slots, their rings, their places in the file, four whole ones."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import pytest

from leakscale_server.core.shapes import ShapeError, parse_shape

from .example_shapes import PYTHON, SQL
from .texts import changed, failure


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


def test_a_multi_line_program_does_not_shift_lines() -> None:
    """Its text may look like TOML; the lines after it must still be right."""
    text = SQL.replace("SELECT t.", "-- [rings.R0]\n-- order = 1\nSELECT t.").replace('"ordered"', '"sorted"')

    assert failure(text).line == 58


@pytest.mark.parametrize(
    "body", ["-\n" * 1800 + "1", "(\n" * 1800, "not\n" * 900 + "1", "a.\n" * 1200 + "b", "[\n" * 1800]
)
def test_a_deeply_nested_program_does_not_crash_the_server(body: str) -> None:
    """It is parsed in the server's own process; running it is the sandbox's business."""
    text = PYTHON.replace("    return [", f"    value = ({body})\n    return [", 1)

    with contextlib.suppress(ShapeError):
        parse_shape(text, source="a")

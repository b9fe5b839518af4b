"""The structure of a program: what a rewording must change, and what changes nothing."""

from __future__ import annotations

import pytest

from leakscale.models import Domain
from leakscale_server.core.checks.structures import WRITTEN_RINGS, are_alike, is_copied, structure, structures_of
from leakscale_server.core.shapes import Shape

PYTHON = """
def transform(records):
    return [r["{{size}}"] for r in records if r["{{size}}"] > {{policy}} and r["{{tag}}"] != "a"]
"""
ROWS = PYTHON.strip().partition("return ")[2]
GIVEN = ROWS.replace("in records", "in rows")


def transform(*lines: str) -> str:
    """Return a module whose function has some lines."""
    return "\n    ".join(["def transform(records):", *lines]) + "\n"


PYTHON_COPIES = {
    "names": PYTHON.replace(" r ", " z ").replace("[r[", "[z[").replace("r[", "z["),
    "comment": PYTHON + "# another\n",
    "docstring": PYTHON.replace(":\n    return", ':\n    """Say."""\n    return'),
    "pass": PYTHON.replace(":\n    return", ":\n    pass\n    return"),
    "unread variable": PYTHON.replace(":\n    return", ":\n    unused = len(records)\n    return"),
    "unread chain": PYTHON.replace(":\n    return", ":\n    one: int = 1\n    two = one + 1\n    two += 3\n    return"),
    "unread function": "import math\n\ndef helper(x):\n    return math.floor(x)\n" + PYTHON,
    "behind the return": PYTHON + "    return None\n",
    "never": PYTHON.replace(
        ":\n    return", ":\n    if False:\n        return 1\n    while 0:\n        pass\n    return"
    ),
    "always": PYTHON.replace("    return", "    if True:\n        return"),
    "annotations": PYTHON.replace("(records)", "(records: list[dict[str, int]]) -> list[int]"),
    "other order": PYTHON.replace(
        'r["{{size}}"] > {{policy}} and r["{{tag}}"] != "a"', '"a" != r["{{tag}}"] and {{policy}} < r["{{size}}"]'
    ),
    "neutral arithmetic": PYTHON.replace('[r["{{size}}"]', '[0 + r["{{size}}"] * 1').replace(
        "{{policy}}", "{{policy}} - 0"
    ),
    "guard": PYTHON.replace("    return", "    if len(records) >= 0:\n        return") + "    return []\n",
    "guard turned round": PYTHON.replace("    return", "    if -1 == len(records):\n        return []\n    return"),
    "guarded condition": PYTHON.replace("and r", "and (r is r or not r) and r"),
    "branches alike": transform("if records:", f"    return {ROWS}", "else:", f"    return {ROWS}"),
    "assertion": PYTHON.replace("    return", "    assert len(records) < 1000\n    print(records)\n    return"),
    "temporary": transform("rows = records", f"found = {GIVEN}", "return found"),
    "temporary policy": "LIMIT = {{policy}}\n" + transform(f"return {ROWS.replace('{{policy}}', 'LIMIT')}"),
    "temporary in a loop": PYTHON.replace('if r["{{size}}"] >', 'for size in [r["{{size}}"]] if size >'),
    "two at once": transform(f"found, count = {ROWS}, len(records)", "return found"),
    "replaced": transform("found = []", f"found = {ROWS}", "return found"),
    "assigned in passing": transform(f"return (found := {ROWS})"),
    "display": transform(f"return [*{ROWS}]"),
    "list of a generator": transform(f"return list({ROWS[1:-1]})"),
    "slice": PYTHON.replace("in records", "in records[:]"),
    "copied": transform(f"return [each for each in {ROWS}] + []"),
    "counted": PYTHON.replace("for r in records", "for _, r in enumerate(records)"),
    "two conditions": PYTHON.replace(" and ", " if "),
    "inner function": transform("def find(records):", f"    return {ROWS}", "return find(records)"),
    "outer function": transform("found = find(records, limit={{policy}})", "return found")
    + f"\ndef find(rows, limit):\n    found = {GIVEN.replace('{{policy}}', 'limit')}\n    return found\n",
    "predicate": 'keep = lambda row, limit: row["{{size}}"] > limit and row["{{tag}}"] != "a"\n'
    + transform('return [r["{{size}}"] for r in records if keep(r, {{policy}})]'),
    "called at once": transform(f"return (lambda rows: {GIVEN})(records)"),
    "default": transform("def find(rows, limit={{policy}}):", f"    return {GIVEN.replace('{{policy}}', 'limit')}")
    + "    return find(records)\n",
    "or nothing": transform(f"return {ROWS} or []"),
    "only item": transform(f"return ({ROWS},)[0]"),
    "filled at once": transform("found = []", f"found.extend({ROWS})", "return found"),
    "added at once": transform("found = []", f"found = found + {ROWS}", "return found"),
    "left at once": transform("while True:", f"    return {ROWS}"),
    "one round": transform("for _ in range(1):", f"    return {ROWS}"),
    "caught and raised": transform("try:", f"    return {ROWS}", "except KeyError:", "    raise"),
}
PYTHON_OTHERS = {
    "operator": PYTHON.replace(">", ">="),
    "negation": PYTHON.replace('r["{{size}}"] > {{policy}}', 'not (r["{{size}}"] <= {{policy}})'),
    "connective": PYTHON.replace(" and ", " or "),
    "loop": """
def transform(records):
    kept = []
    for r in records:
        if r["{{size}}"] > {{policy}} and r["{{tag}}"] != "a":
            kept.append(r["{{size}}"])
    return kept
""",
    "branch": PYTHON.replace("    return", "    if not records:\n        return []\n    return"),
    "arithmetic": PYTHON.replace('[r["{{size}}"]', '[1 + r["{{size}}"] * 2'),
    "filter": """
def transform(records):
    return [r["{{size}}"] for r in filter(lambda r: r["{{size}}"] > {{policy}} and r["{{tag}}"] != "a", records)]
""",
}
SQL = """
SELECT t.{{id}} AS id, COUNT(*) AS n FROM {{items}} AS t JOIN {{users}} AS u ON u.{{id}} = t.{{id}}
WHERE t.{{size}} > {{policy}} AND t.{{tag}} <> 'a' GROUP BY t.{{id}} ORDER BY t.{{id}}
"""
SQL_COPIES = {
    "aliases": SQL.replace("t.", "x.").replace("AS t", "AS x"),
    "no alias": SQL.replace(" AS u", "").replace("u.{{id}}", "{{users}}.{{id}}"),
    "case": SQL.replace("SELECT", "select").replace("WHERE", "where"),
    "comment": SQL.replace("\nWHERE", " -- another\nWHERE /* and more */"),
    "parentheses": SQL.replace("t.{{size}} > {{policy}}", "((t.{{size}}) > ({{policy}}))"),
    "always": SQL.replace("WHERE", "WHERE 1 = 1 AND"),
    "inner": SQL.replace("JOIN", "INNER JOIN"),
    "ascending": SQL.rstrip() + " ASC",
    "unread table": "WITH unused AS (SELECT 1 AS x), more AS (SELECT u.x AS x FROM unused AS u) " + SQL,
    "other order": SQL.replace(
        "t.{{size}} > {{policy}} AND t.{{tag}} <> 'a'", "'a' <> t.{{tag}} AND {{policy}} < t.{{size}}"
    ).replace("u.{{id}} = t.{{id}}", "t.{{id}} = u.{{id}}"),
    "no limit": SQL.rstrip() + " LIMIT -1 OFFSET 0",
    "wrapped": f"SELECT * FROM ({SQL}) ORDER BY id",
    "handed on": f"WITH w AS ({SQL}), v AS (SELECT * FROM w) SELECT v.id AS id, v.n AS n FROM v ORDER BY v.id",
    "table handed on": "WITH kept AS (SELECT * FROM {{items}}) " + SQL.replace("FROM {{items}}", "FROM kept"),
    "filtered before": SQL.replace(
        "FROM {{items}}", "FROM (SELECT * FROM {{items}} AS i WHERE i.{{size}} > {{policy}})"
    ).replace("t.{{size}} > {{policy}} AND ", ""),
    "parameter": "WITH p AS (SELECT {{policy}} AS least) "
    + SQL.replace("JOIN", "CROSS JOIN p JOIN").replace("> {{policy}}", "> p.least"),
    "scalar": SQL.replace("> {{policy}}", "> (SELECT {{policy}})"),
    "condition of the join": SQL.replace(
        "JOIN {{users}} AS u ON u.{{id}} = t.{{id}}\nWHERE", ", {{users}} AS u WHERE u.{{id}} = t.{{id}} AND"
    ),
    "neutral arithmetic": SQL.replace("t.{{size}} > {{policy}}", "0 + t.{{size}} * 1 > {{policy}} - 0"),
    "joined with nothing": SQL.replace("<> 'a'", "|| '' <> 'a'"),
    "of itself": SQL.replace("WHERE", "WHERE t.{{tag}} = t.{{tag}} AND LENGTH(t.{{tag}}) >= 0 AND"),
    "either way": SQL.replace("WHERE", "WHERE (t.{{id}} IS NULL OR t.{{id}} IS NOT NULL) AND (1 OR t.{{id}} > 3) AND"),
    "exists": SQL.replace("WHERE", "WHERE EXISTS (SELECT 1) AND"),
    "having": SQL.replace("ORDER", "HAVING COUNT(*) >= 0 ORDER"),
    "ordered by place": SQL.replace("ORDER BY t.{{id}}", "ORDER BY 1"),
    "ordered by name": SQL.replace("ORDER BY t.{{id}}", "ORDER BY id"),
    "in one": SQL.replace("<> 'a'", "NOT IN ('a')"),
    "one case": SQL.replace("t.{{id}} AS id", "CASE WHEN 1 THEN COALESCE(t.{{id}}, t.{{id}}) END AS id"),
    "choice of truth": SQL.replace("t.{{size}} > {{policy}}", "CASE WHEN t.{{size}} > {{policy}} THEN 1 ELSE 0 END"),
    "if": SQL.replace("t.{{size}} > {{policy}}", "IIF(t.{{size}} > {{policy}}, 1, 0)"),
    "counted by one": SQL.replace("COUNT(*)", "COUNT(1)"),
    "empty union": SQL[: SQL.index("ORDER")] + "UNION ALL SELECT 1, 2 WHERE 0 ORDER BY 1",
}
SQL_OTHERS = {
    "operator": SQL.replace("> {{policy}}", ">= {{policy}}"),
    "negation": SQL.replace("t.{{size}} > {{policy}}", "NOT (t.{{size}} <= {{policy}})"),
    "connective": SQL.replace("AND", "OR"),
    "left": SQL.replace("JOIN", "LEFT JOIN"),
    "descending": SQL.rstrip() + " DESC",
    "having": SQL.replace("WHERE", "WHERE t.{{tag}} <> 'a'").replace(
        " t.{{size}} > {{policy}} AND t.{{tag}} <> 'a'", ""
    ),
    "grouped before": "WITH kept AS (SELECT i.{{id}}, MAX(i.{{size}}) AS {{size}} FROM {{items}} AS i GROUP BY 1) "
    + SQL.replace("FROM {{items}}", "FROM kept"),
    "window": SQL.replace("COUNT(*)", "COUNT(*) OVER (PARTITION BY t.{{id}})"),
    "subquery in a condition": SQL.replace(" JOIN {{users}} AS u ON u.{{id}} = t.{{id}}", "").replace(
        "WHERE", "WHERE EXISTS (SELECT 1 FROM {{users}} AS u WHERE u.{{id}} = t.{{id}}) AND"
    ),
    "first of each": SQL.rstrip() + " LIMIT 3",
    "function": SQL.replace("COUNT(*)", "SUM(t.{{size}})"),
}


def pairs(domain: Domain, exact: str, programs: dict[str, str]) -> list[object]:
    return [pytest.param(domain, exact, program, id=f"{domain}: {name}") for name, program in programs.items()]


@pytest.mark.parametrize(
    ("domain", "exact", "copy"), pairs(Domain.PYTHON, PYTHON, PYTHON_COPIES) + pairs(Domain.SQL, SQL, SQL_COPIES)
)
def test_what_changes_nothing_makes_no_structure(domain: Domain, exact: str, copy: str) -> None:
    """Else an author's R1 is R0 with a comment, and measures memory of R0 twice."""
    assert copy != exact
    assert structure(copy, domain) == structure(exact, domain)


@pytest.mark.parametrize(
    ("domain", "exact", "other"), pairs(Domain.PYTHON, PYTHON, PYTHON_OTHERS) + pairs(Domain.SQL, SQL, SQL_OTHERS)
)
def test_another_way_to_write_it_is_another_structure(domain: Domain, exact: str, other: str) -> None:
    """A form that takes honest rewordings for copies would leave authors nothing to write."""
    assert structure(other, domain) != structure(exact, domain)


@pytest.mark.parametrize(
    ("domain", "exact", "converted"),
    [
        (Domain.PYTHON, PYTHON, PYTHON.replace("[r[", "[int(r[").replace(" for", ") for")),
        (Domain.PYTHON, PYTHON, f"def transform(records):\n    return sorted({ROWS}, key=str)\n"),
        (Domain.PYTHON, PYTHON, PYTHON.replace('r["{{tag}}"]', 'r["{{tag}}"].strip()')),
        (Domain.SQL, SQL, SQL.replace("SELECT", "SELECT DISTINCT")),
        (Domain.SQL, SQL, SQL.replace("t.{{id}} AS id", "CAST(ABS(t.{{id}}) AS INTEGER) AS id")),
        (Domain.SQL, SQL, SQL.rstrip() + " LIMIT 1000"),
        (
            Domain.SQL,
            "SELECT t.a AS a FROM t WHERE t.a > {{policy}}",
            "SELECT t.a AS a FROM t WHERE t.a > {{policy}} GROUP BY t.a",
        ),
        (Domain.SQL, SQL, SQL[: SQL.index("ORDER")]),
    ],
)
def test_a_conversion_that_one_of_two_has_makes_no_rewording(domain: Domain, exact: str, converted: str) -> None:
    """Both must return the same, so it gives what it gets; two shapes may differ by it all the same."""
    assert are_alike(exact, converted, domain)
    assert are_alike(converted, exact, domain)
    assert structure(converted, domain) != structure(exact, domain)


@pytest.mark.parametrize(
    ("domain", "exact", "other"),
    [
        (Domain.SQL, "SELECT COALESCE(t.a, {{policy}}) AS a FROM t", "SELECT t.a AS a FROM t"),
        (Domain.SQL, "SELECT t.a AS a FROM t ORDER BY t.a LIMIT {{policy}}", "SELECT t.a AS a FROM t ORDER BY t.a"),
        (
            Domain.PYTHON,
            "def transform(records):\n    return round(records[0], {{policy}})\n",
            "def transform(records):\n    return records[0]\n",
        ),
    ],
)
def test_a_conversion_by_the_masked_value_is_not_read_over(domain: Domain, exact: str, other: str) -> None:
    """It is all in which the four programs of a family differ."""
    assert not are_alike(exact, other, domain)


def test_ways_to_import_make_no_structure() -> None:
    """`math.floor`, `floor` and `m.floor` are one function."""
    program = "def transform(records):\n    return [{}(r) for r in records]\n"
    ways = [("import math", "math.floor"), ("import math as m", "m.floor"), ("from math import floor", "floor")]
    found = {structure(f"{line}\n{program.format(name)}", Domain.PYTHON) for line, name in ways}

    assert len(found) == 1


def test_no_shape_that_ships_has_a_copy_for_a_rewording(shapes: dict[str, Shape]) -> None:
    assert [shape.id for shape in shapes.values() if is_copied(shape)] == []


def test_a_statement_that_the_parser_cannot_read_is_compared_by_its_words() -> None:
    """SQLite may read it: whether it runs is the sandbox's to say."""
    odd = "SELECT x AS x FROM t WHERE x >>> 1 ORDER BY x"

    assert structure(odd, Domain.SQL) == structure(odd.replace("x", "y").replace("1", "2"), Domain.SQL)
    assert structure(odd, Domain.SQL) != structure(odd.replace(">>>", "<<<"), Domain.SQL)


@pytest.mark.parametrize(
    ("domain", "deep"),
    [
        (Domain.PYTHON, f"def transform(records):\n    return {'-' * 1500}1"),
        (Domain.PYTHON, f"def transform(records):\n    return {'1 + ' * 990}1"),
        (Domain.SQL, f"SELECT {'1 + ' * 990}1 AS x FROM t ORDER BY x"),
        (Domain.SQL, f"SELECT {'(' * 1500}1{')' * 1500} AS x FROM t ORDER BY x"),
        (Domain.SQL, f"SELECT 1 AS x FROM t WHERE {'x AND ' * 600}x ORDER BY x"),
    ],
)
def test_a_program_of_great_depth_has_a_structure(domain: Domain, deep: str) -> None:
    """An author's file must not end a server's certification with an error of ours."""
    assert structure(deep, domain) == structure(deep.replace("1", "2"), domain)


def test_no_two_programs_that_ship_have_one_structure(shapes: dict[str, Shape]) -> None:
    """64 shapes in two wordings are 128 structures, whatever is taken out."""
    found = [each for shape in shapes.values() for ring in WRITTEN_RINGS for each in structures_of(shape, ring)]

    assert len(set(found)) == len(found) == 2 * len(shapes)

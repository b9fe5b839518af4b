"""The structure of a program: what a rewording must change, and what changes nothing."""

from __future__ import annotations

import pytest

from leakscale.models import Domain
from leakscale_server.core.checks.structures import WRITTEN_RINGS, structure, structures_of
from leakscale_server.core.shapes import Shape

PYTHON = """
def transform(records):
    return [r["{{size}}"] for r in records if r["{{size}}"] > {{policy}} and r["{{tag}}"] != "a"]
"""
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
    "table expression": "WITH kept AS (SELECT * FROM {{items}}) " + SQL.replace("FROM {{items}}", "FROM kept"),
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

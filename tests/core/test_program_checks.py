"""What a program may call, import and return is said before it runs, by the lists that hold where it runs."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from leakscale_sandbox.preloaded import MODULE_NAMES
from leakscale_sandbox.sql_policy import FUNCTION_NAMES, Authorizer
from leakscale_server.core.checks.sql_checks import check_sql
from leakscale_server.core.checks.written import WrittenProgram
from leakscale_server.core.format.problems import Problem
from leakscale_server.core.shapes import Shape, parse_shape

from .texts import changed, failure

ROOT = Path(__file__).parents[2]
SQL = (ROOT / "catalogs/sql/threshold.toml").read_text(encoding="utf-8")
PYTHON = (ROOT / "catalogs/python/count.toml").read_text(encoding="utf-8")
PAGE = (ROOT / "docs/catalog-format.md").read_text(encoding="utf-8")


def problems(statement: str, *, columns: tuple[str, ...] = ("x",)) -> list[Problem]:
    """What is wrong with one statement of a shape whose result is a bag of columns."""
    shape: Shape = parse_shape(SQL, source="threshold.toml")
    assert shape.result is not None
    result = shape.result.model_copy(update={"columns": columns, "order": "bag"})
    program = WrittenProgram(statement, ("rings", "R0", "program"), is_masked=True)
    return list(check_sql(shape.model_copy(update={"result": result}), program))


def is_denied(function: str) -> bool:
    """Whether the sandbox's own authorizer refuses a function."""
    answer = Authorizer(frozenset())(sqlite3.SQLITE_FUNCTION, None, function, None, None)
    return answer == sqlite3.SQLITE_DENY


def test_a_function_is_refused_here_exactly_when_it_is_refused_in_the_sandbox() -> None:
    """An author who is told nothing here would be told less there."""
    connection = sqlite3.connect(":memory:")
    known = {name for (name,) in connection.execute("SELECT DISTINCT name FROM pragma_function_list")}
    connection.close()
    callable_names = {name for name in known | FUNCTION_NAMES if re.fullmatch(r"[a-z_]\w*", name)}

    assert len(callable_names) > 80
    for name in callable_names - {"match"}:
        assert bool(problems(f"SELECT {name}(t.a) AS x FROM b AS t")) is is_denied(name), name


@pytest.mark.parametrize(
    ("statement", "name", "line"),
    [
        ("SELECT random() AS x", "random", 0),
        ("SELECT 1 AS x\nWHERE Date ('now') > ''", "Date", 1),
        ("SELECT t.a AS x FROM b AS t\nJOIN json_each(t.a)", "json_each", 1),
        ("SELECT max(julianday(t.a)) AS x FROM b AS t", "julianday", 0),
        ("SELECT\ncurrent_timestamp AS x", "current_timestamp", 1),
    ],
)
def test_a_function_of_its_own_is_named_with_what_there_is_instead(statement: str, name: str, line: int) -> None:
    [problem] = problems(statement)

    assert (problem.value, problem.text_line) == (name, line)
    assert problem.rule.startswith(f"must not call {name}; the functions of the sandbox are abs, avg, ")
    assert all(each in problem.rule for each in FUNCTION_NAMES if each.isidentifier())


@pytest.mark.parametrize(
    "statement",
    [
        "WITH RECURSIVE tree(node, depth) AS (SELECT 1, 0) SELECT tree.node AS x FROM tree",
        "WITH a (b) AS MATERIALIZED (SELECT 1) SELECT a.b AS x FROM a WHERE a.b IN (1, 2) AND NOT (a.b = 3)",
        "SELECT CAST(t.a AS DECIMAL(10, 2)) AS x FROM b AS t WHERE EXISTS (SELECT 1) OR t.a LIKE ('a%')",
        "SELECT sum(t.a) FILTER (WHERE t.a > 1) OVER (PARTITION BY t.b) AS x FROM b AS t",
        "SELECT rank() OVER w AS x FROM b AS t WINDOW w AS (ORDER BY t.a)",
        "SELECT 'random()' AS x -- date()",
        "SELECT CASE WHEN (1) THEN (2) ELSE (3) END AS x UNION ALL SELECT * FROM (VALUES (1))",
    ],
)
def test_what_only_looks_like_a_call_is_taken(statement: str) -> None:
    """A list of columns, a type with a size, a word before a parenthesis."""
    assert problems(statement) == []


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ("t.id AS id, 1 AS extra, t.{{amount}} AS {{amount}}", "id, extra, {{amount}}"),
        ("t.{{amount}} AS {{amount}}, t.id AS id", "{{amount}}, id"),
        ("t.id AS id, t.{{amount}}", "id, one without AS"),
        ("t.id AS ID, t.{{amount}} AS {{amount}}", "ID, {{amount}}"),
        ("DISTINCT t.id AS id", "id"),
        ("*", "one without AS"),
        ("max(1, (SELECT 2 AS id)) AS {{amount}}", "{{amount}}"),
    ],
)
def test_columns_that_are_not_those_of_the_result_are_refused(columns: str, found: str) -> None:
    """Two programs of other columns would agree with each other, and no answer to the task with them."""
    [problem] = problems(f"SELECT {columns} FROM b AS t", columns=("id", "amount"))

    assert problem.rule.endswith("in their order: id, {{amount}}")
    assert problem.value == found


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT DISTINCT t.id AS id, coalesce(t.a, 'x, y AS z') AS {{amount}} FROM b AS t",
        'SELECT t.id AS "id", t.a IS DISTINCT FROM 3 AS {{amount}} FROM b AS t UNION SELECT 1, 2',
        "WITH c AS (SELECT 1 AS other) SELECT c.other AS id, 2 AS {{amount}} FROM c ORDER BY 1",
    ],
)
def test_columns_are_those_of_the_outermost_query(statement: str) -> None:
    assert problems(statement, columns=("id", "amount")) == []


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("import numpy", "numpy"),
        ("import os, socket", "socket"),
        ("from . import x", "."),
        ("import os.pathx", "os.pathx"),
    ],
)
def test_a_module_that_the_sandbox_lacks_is_named_with_what_there_is_instead(line: str, name: str) -> None:
    error = failure(changed(PYTHON, "def transform(records):\n", f"def transform(records):\n    {line}\n"))

    assert error.field == "rings.R0.program"
    assert PYTHON.split("\n")[error.line - 2] == "def transform(records):"
    assert error.rule == f"must not import {name}; the modules of the sandbox are {', '.join(MODULE_NAMES)}"
    assert error.value == name


@pytest.mark.parametrize("name", MODULE_NAMES)
def test_every_module_of_the_sandbox_may_be_imported(name: str) -> None:
    lines = f"def transform(records):\n    import {name}\n    from {name} import *\n"
    parse_shape(changed(PYTHON, "def transform(records):\n", lines), source="count.toml")


def test_the_page_lists_what_the_worker_has() -> None:
    """The worker's lists are the ones that hold; a page beside them must not tell another story."""
    section = PAGE.split("### What a program may use\n")[1].split("\n## ")[0]
    _, functions = section.split("SQL functions")
    functions, modules = functions.split("Python modules:")

    assert set(re.findall(r"`([^`]+)`", functions)) - {"no such function"} == FUNCTION_NAMES
    assert tuple(re.findall(r"`([^`]+)`", modules)) == MODULE_NAMES

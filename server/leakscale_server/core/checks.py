"""Rules of a shape that take more than one field to tell.

Each check yields the problems it finds; `shapes.parse_shape` reports the first in the order of the file. None of them
runs the author's program: an SQL text is read with its strings and parentheses taken out, a Python text is parsed.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from leakscale.models import Domain

from leakscale_server.core.candidates import CANDIDATE_COUNT, separable_count
from leakscale_server.core.columns import ChoiceColumn, Column, ReferenceColumn, TextColumn
from leakscale_server.core.grids import DateGrid, DecimalGrid, IntegerGrid
from leakscale_server.core.locations import Path
from leakscale_server.core.rendering import PLACEHOLDER, find_column
from leakscale_server.core.schema import RESERVED_SLOT, Shape

__all__ = ["Problem", "find_problems"]

_PROGRAM: Path = ("rings", "R0", "program")
_TASK: Path = ("rings", "R0", "task")

# Keywords that SQLite does not take as a bare identifier, plus those that would make a query hard to read.
_SQL_KEYWORDS = frozenset(
    "add all alter and as asc autoincrement between by case check collate commit constraint create cross current_date"
    " current_time current_timestamp default deferrable delete desc distinct drop else end escape except exists filter"
    " foreign from full group having in index inner insert intersect into is isnull join key left like limit natural"
    " not nothing notnull null offset on or order outer over partition primary references returning right row rows"
    " select set table then to transaction union unique update using values view when where window with".split()
)


@dataclass(frozen=True, slots=True)
class Problem:
    """One broken rule."""

    path: Path
    rule: str
    value: object


def find_problems(shape: Shape) -> Iterator[Problem]:
    """Yield every problem of a shape whose fields are well typed."""
    yield from _check_domain(shape)
    yield from _check_candidates(shape)
    yield from _check_names(shape)
    yield from _check_columns(shape)
    yield from _check_task(shape)
    yield from _check_mask(shape)
    yield from _check_sql(shape) if shape.language is Domain.SQL else _check_python(shape)


def _check_domain(shape: Shape) -> Iterator[Problem]:
    if not shape.id.startswith(f"{shape.domain}-"):
        yield Problem(("id",), f"must begin with its domain, '{shape.domain}-'", shape.id)
    if shape.language is Domain.SQL:
        if not shape.tables:
            yield Problem(("tables",), "an SQL shape needs at least one [[tables]]", None)
        if shape.records is not None:
            yield Problem(("records",), "an SQL shape has [[tables]], not [records]", None)
        if shape.result is None:
            yield Problem(("result",), "an SQL shape needs [result] with columns and order", None)
        return
    if shape.records is None:
        yield Problem(("records",), "a Python shape needs [records] with rows and fields", None)
    if shape.tables:
        yield Problem(("tables",), "a Python shape has [records], not [[tables]]", None)
    if shape.result is not None:
        yield Problem(("result",), "a Python result is compared whole; leave [result] out", None)


def _check_candidates(shape: Shape) -> Iterator[Problem]:
    pool, span = shape.candidates.pool, shape.candidates.range
    if (pool is None) == (span is None):
        yield Problem(("candidates",), "needs either pool or range, not both", None)
    elif pool is not None:
        for index, value in enumerate(pool):
            if value in pool[:index]:
                yield Problem(("candidates", "pool", index), "values must be distinct", value)
            if isinstance(value, str) and not _is_plain_text(value):
                yield Problem(("candidates", "pool", index), "text must be printable", value)
    elif span is not None:
        yield from _check_grid(span, ("candidates", "range"))
        if span.low <= span.high and separable_count(span) < CANDIDATE_COUNT:  # type: ignore[operator]
            yield Problem(
                ("candidates", "range"),
                f"must hold at least {CANDIDATE_COUNT} values at its distance",
                separable_count(span),
            )


def _check_grid(grid: object, path: Path) -> Iterator[Problem]:
    if isinstance(grid, IntegerGrid | DecimalGrid | DateGrid) and grid.high < grid.low:  # type: ignore[operator]
        yield Problem((*path, "high"), f"must be at least low, {grid.low}", grid.high)


def _check_names(shape: Shape) -> Iterator[Problem]:
    """Keep words apart, so that no choice of words gives two columns one name."""
    fixed = {name for _, name in _all_names(shape) if name not in shape.vocabulary}
    owner: dict[str, str] = {}
    used = {name for _, name in _all_names(shape)} | set(PLACEHOLDER.findall(shape.rings.R0.task))
    for slot, words in shape.vocabulary.items():
        path = ("vocabulary", slot)
        if slot == RESERVED_SLOT:
            yield Problem(path, "is the name of the masked value; choose another slot", slot)
        if slot not in used:
            yield Problem(path, "is used by no table, column, field or task", slot)
        for index, word in enumerate(words):
            if word in fixed or owner.get(word, slot) != slot or word in words[:index]:
                yield Problem((*path, index), "stands for two things; words and names must differ", word)
            if _is_keyword(word):
                yield Problem((*path, index), "is a keyword; choose another word", word)
            owner[word] = slot
    for path, name in _all_names(shape):
        if name in fixed and _is_keyword(name):
            yield Problem(path, "is a keyword; choose another name", name)


def _all_names(shape: Shape) -> Iterator[tuple[Path, str]]:
    for index, table in enumerate(shape.tables):
        yield ("tables", index, "name"), table.name
    for path, column in _all_columns(shape):
        yield (*path, "name"), column.name


def _all_columns(shape: Shape) -> Iterator[tuple[Path, Column]]:
    for index, table in enumerate(shape.tables):
        for place, column in enumerate(table.columns):
            yield ("tables", index, "columns", place), column
    for place, field in enumerate(shape.records.fields if shape.records else ()):
        yield ("records", "fields", place), field


def _is_keyword(name: str) -> bool:
    return name in _SQL_KEYWORDS or keyword.iskeyword(name)


def _check_columns(shape: Shape) -> Iterator[Problem]:
    holders = [(("tables", index), table.rows) for index, table in enumerate(shape.tables)]
    if shape.records:
        holders.append((("records",), shape.records.rows))  # type: ignore[arg-type]
    for holder, rows in holders:
        if rows[1] < rows[0]:
            yield Problem((*holder, "rows"), f"the most rows must be at least the fewest, {rows[0]}", rows[1])
    seen: set[Path] = set()
    for path, name in _all_names(shape):
        scope = (*path[:-2], name)
        if scope in seen:
            yield Problem(path, "is taken already", name)
        seen.add(scope)
    for path, column in _all_columns(shape):
        yield from _check_grid(column, path)
        yield from _check_near(shape, column, path)
        match column:
            case ChoiceColumn(values=values):
                yield from _check_choice(shape, values, path)
            case TextColumn(length=length) if length[1] < length[0]:
                yield Problem((*path, "length"), f"the most letters must be at least the fewest, {length[0]}", length)
            case ReferenceColumn():
                yield from _check_reference(shape, column, path)


def _check_near(shape: Shape, column: Column, path: Path) -> Iterator[Problem]:
    if getattr(column, "near_candidates", Decimal(0)) == 0:
        return
    generator = column.generator
    if isinstance(column, ChoiceColumn):
        kind = {str: "string", int: "integer", Decimal: "decimal"}.get(type(column.values[0]), "boolean")
    else:
        kind = "string" if generator == "text" else generator
    if kind != shape.candidates.type:
        rule = f"needs candidates of its own type, {kind}; they are {shape.candidates.type}"
        yield Problem((*path, "near_candidates"), rule, generator)


def _check_choice(shape: Shape, values: tuple[object, ...], path: Path) -> Iterator[Problem]:
    if len({type(value) for value in values}) > 1:
        yield Problem((*path, "values"), "must all have one type", list(values))
    if shape.language is Domain.SQL and isinstance(values[0], bool):
        yield Problem((*path, "values"), "SQLite has no booleans; use 0 and 1", list(values))
    for value in values:
        if isinstance(value, str) and not _is_plain_text(value):
            yield Problem((*path, "values"), "text must be printable", value)


def _check_reference(shape: Shape, column: ReferenceColumn, path: Path) -> Iterator[Problem]:
    earlier = {table.name for table in shape.tables[: int(path[1])]} if path[0] == "tables" else set()
    if column.table not in earlier:
        yield Problem((*path, "table"), "must name an earlier table", column.table)
    else:
        target = find_column(shape, column)
        if target is None or isinstance(target, ReferenceColumn):
            yield Problem((*path, "column"), f"must name a column of {column.table} with values of its own", column.column)


def _check_task(shape: Shape) -> Iterator[Problem]:
    task = shape.rings.R0.task
    if not _is_plain_text(task):
        yield Problem(_TASK, "must be one printable line", task)
    if RESERVED_SLOT in PLACEHOLDER.findall(task):
        yield Problem(_TASK, "must leave the masked value open; write 'the policy value'", task)
    elif "policy" not in task:
        yield Problem(_TASK, "must say what the policy value decides", task)
    yield from _check_placeholders(shape, task, _TASK)


def _check_mask(shape: Shape) -> Iterator[Problem]:
    program = shape.rings.R0.program
    count = PLACEHOLDER.findall(program).count(RESERVED_SLOT)
    if count != 1:
        yield Problem(_PROGRAM, "must hold {{policy}} exactly once", f"{count} times")
    if re.search(r"""['"`]\{\{policy\}\}|\{\{policy\}\}['"`]""", program):
        yield Problem(_PROGRAM, "{{policy}} becomes a literal with its own quotes; leave yours out", "quoted {{policy}}")
    yield from _check_placeholders(shape, program, _PROGRAM)


def _check_placeholders(shape: Shape, text: str, path: Path) -> Iterator[Problem]:
    for slot in PLACEHOLDER.findall(text):
        if slot != RESERVED_SLOT and slot not in shape.vocabulary:
            yield Problem(path, "names a slot that [vocabulary] lacks", slot)


def _check_sql(shape: Shape) -> Iterator[Problem]:
    program = shape.rings.R0.program
    bare = _without_text(program)
    if not re.match(r"\s*(select|with)\b", bare, re.IGNORECASE):
        yield Problem(_PROGRAM, "must be one SELECT or WITH statement", program.strip()[:40])
    if ";" in bare:
        yield Problem(_PROGRAM, "must be one statement without a semicolon", ";")
    if shape.result is None:
        return
    if shape.is_ordered and not re.search(r"\border\s+by\b", _outermost(bare), re.IGNORECASE):
        yield Problem(_PROGRAM, "an ordered result needs an outermost ORDER BY", program.strip()[-40:])
    for index, name in enumerate(shape.result.columns):
        shown = rf"\{{\{{{name}\}}\}}" if name in shape.vocabulary else rf"{name}\b"
        if not re.search(rf"\bas\s+{shown}", bare, re.IGNORECASE):
            yield Problem(("result", "columns", index), "must appear in the program after AS", name)


def _without_text(program: str) -> str:
    """Take out quoted strings and comments."""
    return re.sub(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/", " ", program, flags=re.DOTALL)


def _outermost(bare: str) -> str:
    """Keep what stands outside all parentheses."""
    depth, kept = 0, []
    for letter in bare:
        depth += (letter == "(") - (letter == ")")
        kept.append(letter if depth == 0 else " ")
    return "".join(kept)


def _check_python(shape: Shape) -> Iterator[Problem]:
    program = PLACEHOLDER.sub(lambda match: "0" if match[1] == RESERVED_SLOT else match[1], shape.rings.R0.program)
    try:
        tree = ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        yield Problem(_PROGRAM, f"must be a Python module: {getattr(error, 'msg', 'it cannot be parsed')}", _where(error))
        return
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "transform"]
    if len(functions) != 1 or len(functions[0].args.args) != 1:
        yield Problem(_PROGRAM, "must define transform(records) once, with one argument", f"{len(functions)} functions")


def _where(error: Exception) -> str:
    return f"line {error.lineno} of the program" if isinstance(error, SyntaxError) else type(error).__name__


def _is_plain_text(text: str) -> bool:
    """Return whether a text is printable and on one line, so that it cannot forge a line of a prompt."""
    return text.isprintable()

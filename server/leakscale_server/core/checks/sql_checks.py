"""Rules of an SQL program. It is read with its texts and parentheses taken out; what it does is the sandbox's to find.

Does *not* guard against anything: a statement that hides a function from these patterns is refused where it runs, by
the same lists. It is here that an author is told so with a line, and with what there is instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from leakscale_sandbox.sql_policy import FUNCTION_NAMES
from leakscale_server.core.checks.written import WrittenProgram, bare_slot, line_at
from leakscale_server.core.format.keywords import is_reserved
from leakscale_server.core.format.problems import Phrase, Problem
from leakscale_server.core.format.schema import Shape

__all__ = ["bare_sql", "check_sql", "sql_names"]

_TEXT: Final = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)
"""A string, a quoted name or a comment."""
_WORD: Final = re.compile(r"(?<![\w{$@:])([A-Za-z_]\w*)(?![\w}]|\s*\()")
"""A name that stands by itself and is no function."""
_CALL: Final = re.compile(r"(?<![\w{$@:.])([A-Za-z_]\w*)\s*\(")
_BEFORE_TYPE: Final = re.compile(r"\bas\s+$", re.IGNORECASE)
_COLUMNS_OF_TABLE: Final = re.compile(
    r"\(\s*[\w\s,{}]*\)\s*as\s*(?:not\s+materialized\s*|materialized\s*)?\(", re.IGNORECASE
)
"""What follows the name of a common table expression that names its columns."""
_WORDS: Final = """
    all and any as between by case cast collate distinct else end escape except exists filter from group having in inner
    intersect is join limit materialized not offset on or order over partition recursive select then union using values
    when where window with
"""
_NO_FUNCTIONS: Final = frozenset(_WORDS.split())
"""Words that stand before a parenthesis and call nothing."""
_CLOCK: Final = re.compile(r"(?<![\w{.])current_(?:date|time|timestamp)(?![\w}])", re.IGNORECASE)
_FUNCTIONS: Final = ", ".join(sorted(name for name in FUNCTION_NAMES if name[0] != "-"))
_SELECT: Final = re.compile(r"(?<![\w{])select\b(?:\s+(?:distinct|all)\b)?", re.IGNORECASE)
_BEHIND_COLUMNS: Final = re.compile(
    r"(?<![\w{])(?:(?<!distinct\s)from|where|group|having|order|limit|union|intersect|except|window)(?![\w}])",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(r"(?<![\w{])as\s+(\{\{\w+\}\}|\w+)\s*$", re.IGNORECASE)


def bare_sql(program: str) -> str:
    """Return a program without its texts, quoted names and comments; every line keeps its number."""
    return _TEXT.sub(_blank, program)


def sql_names(program: str) -> set[str]:
    """Return the words of a program that are no functions, texts or placeholders, in small letters."""
    return {match[1].lower() for match in _WORD.finditer(bare_sql(program))}


def check_sql(shape: Shape, program: WrittenProgram) -> Iterator[Problem]:
    """Check one program by itself: its form, its names, the functions that it calls and the columns that it returns."""
    text, path = program.text, program.path
    bare = bare_sql(text)
    for match in _WORD.finditer(bare):
        # Right only in families whose word is the same.
        if match[1].lower() in shape.vocabulary and not is_reserved(match[1].lower()):
            yield bare_slot(match[1].lower(), match[1], path, line_at(bare, match.start()))
    if not re.match(r"\s*(select|with)\b", bare, re.IGNORECASE):
        first = len(bare) - len(bare.lstrip())
        opening = text[first:].split("\n", 1)[0]
        yield Problem(path, "must be one SELECT or WITH statement", opening, line_at(text, first))
        return
    if ";" in bare:
        yield Problem(path, "must be one statement without a semicolon", ";", line_at(text, bare.index(";")))
    for match in _refused_calls(bare):
        name = match[0].rstrip("( \n\t")
        rule = f"must not call {name}; the functions of the sandbox are {_FUNCTIONS}"
        yield Problem(path, rule, Phrase(name), line_at(bare, match.start()))
    outer = _outermost(bare)
    if shape.result and shape.is_ordered and not re.search(r"\border\s+by\b", outer, re.IGNORECASE):
        last = len(bare.rstrip())
        yield Problem(path, "must have an outermost ORDER BY for an ordered result", None, line_at(text, last))
    yield from _check_columns(shape, program, outer)


def _refused_calls(bare: str) -> Iterator[re.Match[str]]:
    """Find functions that the sandbox does not have; a type with a size and a table's columns look like calls."""
    yield from _CLOCK.finditer(bare)
    for match in _CALL.finditer(bare):
        is_call = not _BEFORE_TYPE.search(bare, 0, match.start()) and not _COLUMNS_OF_TABLE.match(bare, match.end() - 1)
        if is_call and match[1].lower() not in _NO_FUNCTIONS | FUNCTION_NAMES:
            yield match


def _check_columns(shape: Shape, program: WrittenProgram, outer: str) -> Iterator[Problem]:
    """Compare the names of the columns that a statement returns with those of the result, in their order.

    In a union these are the names of its first part. The bytes of a result hold the names, as a statement writes them.
    """
    opening = _SELECT.search(outer)
    if shape.result is None or opening is None or len(set(shape.result.columns)) < len(shape.result.columns):
        return
    ending = _BEHIND_COLUMNS.search(outer, opening.end())
    items = outer[opening.end() : ending.start() if ending else len(outer)].split(",")
    found = [named[1] if (named := _NAMED.search(item)) else "one without AS" for item in items]
    columns = [f"{{{{{name}}}}}" if name in shape.vocabulary else name for name in shape.result.columns]
    if found != columns:
        rule = f"must return the columns of [result], each named with AS and in their order: {', '.join(columns)}"
        yield Problem(program.path, rule, Phrase(", ".join(found)), line_at(program.text, opening.start()))


def _blank(match: re.Match[str]) -> str:
    """Put spaces in place of a text, so that what stands behind it keeps its line; leave a quoted name's word."""
    if re.fullmatch(r'"\w+"', match[0]):
        return f" {match[0][1:-1]} "
    return re.sub(r"[^\n]", " ", match[0])


def _outermost(bare: str) -> str:
    """Keep what stands outside all parentheses, in its place."""
    depth, kept = 0, []
    for letter in bare:
        depth += (letter == "(") - (letter == ")")
        kept.append(letter if depth == 0 or letter == "\n" else " ")
    return "".join(kept)

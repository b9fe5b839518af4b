"""Read the rows of a script of INSERT statements with literal values. Nothing is executed.

It takes what the `.dump` of SQLite's shell writes: PRAGMA, BEGIN, CREATE and COMMIT are passed over, for tables are
declared in the shape file, and so is what SQLite notes for itself. Of a CREATE TABLE the order of its columns is kept:
rows without names are written in it, so each table has one, before its rows.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, NamedTuple

__all__ = ["Insert", "InsertedRow", "Literal", "ScriptError", "read_inserts"]

_PASSED_OVER: Final = frozenset({"pragma", "begin", "create", "commit", "end", "analyze"})
_NOTED: Final = frozenset(
    {
        ("delete", "from", "sqlite_sequence"),
        ("insert", "into", "sqlite_sequence"),
        ("insert", "into", "sqlite_stat1"),
    }
)
"""How statements begin with which a dump keeps SQLite's own notes, on AUTOINCREMENT and ANALYZE."""
_TEMPORARY: Final = frozenset({"temp", "temporary"})
_CONSTRAINTS: Final = frozenset({"constraint", "primary", "unique", "check", "foreign"})
"""Words with which a part of CREATE TABLE begins that is no column; as names they stand in quotes."""
_TOKEN: Final = re.compile(
    r"(?P<skip>\s+|--[^\n]*|/\*.*?(?:\*/|\Z))"
    r"|(?P<text>'(?:[^']|'')*')"
    r"|(?P<unclosed>'.*)"
    r"|(?P<number>[+-]?(?:\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(?:[eE][+-]?\d{1,2})?(?![\w.]))"
    r'|(?P<name>[A-Za-z_]\w*|"[A-Za-z_]\w*"|`[A-Za-z_]\w*`|\[[A-Za-z_]\w*\])'
    r"|(?P<odd>[+-]?\.?\d[\w.]*)"
    r"|(?P<mark>.)",
    re.DOTALL | re.ASCII,
)
"""An odd token begins like a number and is none that a fixture may hold: `0x5`, twenty digits."""
_LITERAL_RULE: Final = (
    "must have literal values: numbers of at most 18 digits before the point and behind it, texts in single quotes "
    "or NULL"
)


class ScriptError(ValueError):
    """A script holds something else than rows.

    Args:
        rule: What must hold.
        value: What stands there instead.
        line: 0-based.
    """

    def __init__(self, rule: str, value: str | None, line: int) -> None:
        super().__init__(rule)
        self.rule = rule
        self.value = value
        self.line = line


Literal = int | Decimal | str | None


@dataclass(frozen=True, slots=True)
class InsertedRow:
    """One row of an INSERT statement."""

    values: list[Literal]
    written: list[str]
    """Each value as the script has it."""
    line: int
    """0-based line on which it begins."""


@dataclass(frozen=True, slots=True)
class Insert:
    """One INSERT statement."""

    table: str
    columns: list[str]
    """Of the statement; where it names none, of the table's CREATE TABLE before it; empty where there is none."""
    rows: list[InsertedRow]
    line: int
    """0-based line on which it begins."""


class _Token(NamedTuple):
    kind: str
    """`text`, `unclosed`, `number`, `name`, `odd`, `mark`, or `end` behind the last one."""
    written: str
    line: int

    @property
    def word(self) -> str:
        """Return a name in lower case and without quotes."""
        return self.written.strip('"`[]').lower()


class _Tokens:
    """A cursor over the tokens of a script."""

    def __init__(self, script: str) -> None:
        self._tokens = list(_tokens(script))
        self._at = 0

    @property
    def next(self) -> _Token:
        return self._tokens[self._at]

    def begins(self, beginnings: Collection[tuple[str, ...]]) -> bool:
        """Return whether the next three words are one of some beginnings."""
        return tuple(token.word for token in self._tokens[self._at : self._at + 3]) in beginnings

    def take(self) -> _Token:
        token = self.next
        self._at += token.kind != "end"
        return token

    def take_if(self, written: str) -> bool:
        """Take a mark or a keyword if it comes next."""
        is_next = self.next.kind in {"mark", "name"} and self.next.written.lower() == written
        if is_next:
            self.take()
        return is_next

    def expect(self, written: str) -> None:
        if not self.take_if(written):
            raise _fault(f"must have {written!r} here", self.next)

    def expect_name(self) -> str:
        if self.next.kind != "name":
            raise _fault("must have a name here", self.next)
        return self.take().word


def read_inserts(script: str) -> Iterator[Insert]:
    """Yield the INSERT statements of a script, in order.

    Raises:
        ScriptError: If it holds any other statement that could change a row, a value that is no literal, two CREATE
            TABLE of one table or one behind its rows, or no table at all.
    """
    tokens = _Tokens(script)
    created: dict[str, list[str]] = {}
    filled: set[str] = set()
    while tokens.next.kind != "end":
        if tokens.take_if(";"):
            continue
        if tokens.begins(_NOTED) or (tokens.next.kind == "name" and tokens.next.word in _PASSED_OVER):
            created |= _read_created(tokens, created, filled)
            while tokens.next.kind != "end" and not tokens.take_if(";"):
                tokens.take()
        else:
            insert = _read_insert(tokens, created)
            filled.add(insert.table)
            yield insert
    if not created and not filled:
        raise ScriptError("must hold INSERT statements, or the CREATE TABLE of a table without rows", None, 0)


def _read_created(tokens: _Tokens, created: Collection[str], filled: Collection[str]) -> dict[str, list[str]]:
    """Return the names of the columns of a CREATE TABLE, or nothing of any other statement; its end is not taken.

    Args:
        tokens: At the statement.
        created: Tables with a CREATE TABLE before it.
        filled: Tables with rows before it.
    """
    if not tokens.take_if("create"):
        return {}
    if tokens.next.word in _TEMPORARY:
        tokens.take()
    if not tokens.take_if("table"):
        return {}
    if tokens.take_if("if"):
        tokens.expect("not")
        tokens.expect("exists")
    named = tokens.next
    table = tokens.expect_name()
    if tokens.take_if("."):
        named = tokens.next
        table = tokens.expect_name()
    if table in created:
        raise _fault("must have one CREATE TABLE of a table; keep the one in whose order its rows are written", named)
    if table in filled:
        raise _fault("must have the CREATE TABLE of a table before its rows; move it there, or leave it out", named)
    columns = list(_read_columns(tokens)) if tokens.take_if("(") else []
    if not columns or tokens.next.word == "as":
        raise _fault(f"must have the columns of {table} in parentheses here, and its rows as INSERT", tokens.next)
    return {table: columns}


def _read_columns(tokens: _Tokens) -> Iterator[str]:
    """Yield the first word of each part between the parentheses of a CREATE TABLE, of columns alone."""
    depth, begins = 1, True
    while depth and tokens.next.kind != "end":
        token = tokens.take()
        if begins and token.written.lower() not in _CONSTRAINTS:
            yield token.word
        depth += {"(": 1, ")": -1}.get(token.written, 0)
        begins = depth == 1 and token.written == ","


def _read_insert(tokens: _Tokens, created: Mapping[str, list[str]]) -> Insert:
    line = tokens.next.line
    if not tokens.take_if("insert"):
        raise _fault("must hold INSERT statements alone", tokens.next)
    tokens.expect("into")
    table = tokens.expect_name()
    columns = _read_names(tokens) if tokens.next.written == "(" else created.get(table, [])
    tokens.expect("values")
    rows = [_read_row(tokens)]
    while tokens.take_if(","):
        rows.append(_read_row(tokens))
    if tokens.next.kind != "end":
        tokens.expect(";")
    return Insert(table, columns, rows, line)


def _read_names(tokens: _Tokens) -> list[str]:
    tokens.expect("(")
    names = [tokens.expect_name()]
    while tokens.take_if(","):
        names.append(tokens.expect_name())
    tokens.expect(")")
    return names


def _read_row(tokens: _Tokens) -> InsertedRow:
    line = tokens.next.line
    tokens.expect("(")
    values: list[Literal] = []
    written: list[str] = []
    while True:
        written.append(tokens.next.written)
        values.append(_read_literal(tokens.take()))
        if tokens.take_if(")"):
            return InsertedRow(values, written, line)
        if not tokens.take_if(","):
            raise _fault("must have ',' or ')' behind a literal value; nothing is computed", tokens.next)


def _read_literal(token: _Token) -> Literal:
    match token.kind:
        case "text":
            return token.written[1:-1].replace("''", "'")
        case "number":
            return int(token.written) if re.fullmatch(r"[+-]?[0-9]+", token.written) else Decimal(token.written)
        case "name" if token.word == "null":
            return None
        case "unclosed":
            raise _fault("must close a text with a single quote", token)
    raise _fault(_LITERAL_RULE, token)


def _tokens(script: str) -> Iterator[_Token]:
    line = 0
    for match in _TOKEN.finditer(script):
        kind = match.lastgroup or "mark"
        if kind != "skip":
            yield _Token(kind, match[0], line)
        line += match[0].count("\n")
    yield _Token("end", "", line)


def _fault(rule: str, token: _Token) -> ScriptError:
    return ScriptError(rule, token.written.split("\n", 1)[0] or None, token.line)

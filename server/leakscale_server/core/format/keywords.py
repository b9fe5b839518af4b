"""Words that a program cannot use as names."""

from __future__ import annotations

import keyword
from typing import Final

__all__ = ["is_reserved", "reserved_rule"]

# Keywords that SQLite does not take as a bare identifier, plus those that would make a query hard to read.
_SQL_KEYWORDS: Final = """
    add all alter and as asc autoincrement between by case check collate commit constraint create cross current_date
    current_time current_timestamp default deferrable delete desc distinct drop else end escape except exists filter
    foreign from full group having in index inner insert intersect into is isnull join key left like limit natural not
    nothing notnull null offset on or order outer over partition primary references returning right row rows select set
    table then to transaction union unique update using values view when where window with
"""
_KEYWORDS: Final = frozenset(_SQL_KEYWORDS.split()) | frozenset(keyword.kwlist)


_OWN_PREFIX: Final = "sqlite_"


def is_reserved(name: str) -> bool:
    """Return whether a lower-case name is a keyword of SQL or Python, or SQLite's own."""
    return reserved_rule(name) is not None


def reserved_rule(name: str) -> str | None:
    """Return what a lower-case name must not be, if it is reserved."""
    if name.startswith(_OWN_PREFIX):
        return f"must not begin with {_OWN_PREFIX}, as SQLite's own tables do"
    return "must be no keyword" if name in _KEYWORDS else None

"""Which words of a sandbox about an SQL statement may be passed on to people."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["is_about_statement"]

_WORD: Final = re.compile(r"\w+", re.ASCII)
_ORDINAL: Final = re.compile(r"\d{1,2}(st|nd|rd|th)?")
_WORDS_OF_SQLITE: Final = """
    a access after aggregate aggregates all ambiguous and any argument arguments at authorized be before between by
    can cannot circular clause column columns come compound cte depth distinct do does error exactly execute expected
    expression filter for from function functions group has have having in incomplete input inside is join large left
    limit match maximum may misuse must name near no not number of offset on one only or order out over parser
    permitted prohibited range recursive reference referenced references required result returns right row same select
    selects set should specified stack statement statements sub such support syntax table tables term terms the time to
    token too tree union unrecognized unsupported use used using value values window with within wrong you
"""
_SQLITE_WORDS: Final = frozenset(_WORDS_OF_SQLITE.split())


def is_about_statement(message: str, statement: str) -> bool:
    """Return whether a message says nothing but words of SQLite and of the statement.

    The worker passes on only what SQLite says while it prepares a statement, which is before it reads a row. This holds
    it to that: a value of a fixture is in neither list.

    Args:
        message: Printable ASCII; hostile.
        statement: The program as it was sent.
    """
    known = _SQLITE_WORDS.union(_WORD.findall(statement.lower()))
    words = _WORD.findall(message.lower())
    return message.isprintable() and all(word in known or _ORDINAL.fullmatch(word) for word in words)

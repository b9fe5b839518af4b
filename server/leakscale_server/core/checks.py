"""Rules of a shape that take more than one field to tell.

Each check yields the problems it finds; `shapes.parse_shape` reports the first in the order of the file.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterator

from leakscale.models import Domain
from leakscale_server.core.candidates import CANDIDATE_COUNT, separable_count
from leakscale_server.core.column_checks import check_columns
from leakscale_server.core.locations import Path
from leakscale_server.core.problems import Problem, all_names, check_grid, is_plain_text
from leakscale_server.core.rendering import PLACEHOLDER
from leakscale_server.core.schema import RESERVED_SLOT, Shape
from leakscale_server.core.text_checks import check_texts

__all__ = ["find_problems"]

# Keywords that SQLite does not take as a bare identifier, plus those that would make a query hard to read.
_SQL_KEYWORDS = """
    add all alter and as asc autoincrement between by case check collate commit constraint create cross current_date
    current_time current_timestamp default deferrable delete desc distinct drop else end escape except exists filter
    foreign from full group having in index inner insert intersect into is isnull join key left like limit natural not
    nothing notnull null offset on or order outer over partition primary references returning right row rows select set
    table then to transaction union unique update using values view when where window with
"""
_KEYWORDS = frozenset(_SQL_KEYWORDS.split()) | frozenset(keyword.kwlist)


def find_problems(shape: Shape) -> Iterator[Problem]:
    """Yield every problem of a shape whose fields are well typed."""
    yield from _check_domain(shape)
    yield from _check_candidates(shape)
    yield from _check_names(shape)
    yield from check_columns(shape)
    yield from check_texts(shape)


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
            if isinstance(value, str) and not is_plain_text(value):
                yield Problem(("candidates", "pool", index), "text must be printable", value)
    elif span is not None:
        yield from check_grid(span, ("candidates", "range"))
        if span.low <= span.high and separable_count(span) < CANDIDATE_COUNT:  # type: ignore[operator]
            yield Problem(
                ("candidates", "range"),
                f"must hold at least {CANDIDATE_COUNT} values at its distance",
                separable_count(span),
            )


def _check_names(shape: Shape) -> Iterator[Problem]:
    """Keep words apart, so that no choice of words gives two columns one name."""
    fixed = {name for _, name in all_names(shape) if name not in shape.vocabulary}
    owner: dict[str, str] = {}
    used = {name for _, name in all_names(shape)} | set(PLACEHOLDER.findall(shape.rings.R0.task))
    for slot, words in shape.vocabulary.items():
        path: Path = ("vocabulary", slot)
        if slot == RESERVED_SLOT:
            yield Problem(path, "is the name of the masked value; choose another slot", slot)
        if slot not in used:
            yield Problem(path, "is used by no table, column, field or task", slot)
        for index, word in enumerate(words):
            if word in fixed or owner.get(word, slot) != slot or word in words[:index]:
                yield Problem((*path, index), "stands for two things; words and names must differ", word)
            if _is_reserved(word):
                yield Problem((*path, index), "is a keyword; choose another word", word)
            owner[word] = slot
    for place, name in all_names(shape):
        if name in fixed and _is_reserved(name):
            yield Problem(place, "is a keyword; choose another name", name)


def _is_reserved(name: str) -> bool:
    return name in _KEYWORDS or name.startswith("sqlite_")

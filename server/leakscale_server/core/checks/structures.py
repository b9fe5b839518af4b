"""Whether programs differ in structure: in their syntax trees, with every name and value taken out.

Two shapes of one structure would be one shape of twice the weight, and a reworded program of the same structure would
be a copy. Operators and clauses stay: `=` and `>=` ask for other things. What does nothing goes, what only carries
something to one place is followed, and operands and conditions stand in one order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from keyword import iskeyword
from typing import NamedTuple

from leakscale.models import Domain, Ring
from leakscale_server.core.building.rendering import PLACEHOLDER
from leakscale_server.core.checks.python_structure import POLICY_NAME, python_conversions, python_structure
from leakscale_server.core.format.keywords import is_reserved
from leakscale_server.core.format.schema import RESERVED_SLOT, Shape

__all__ = ["WRITTEN_RINGS", "are_alike", "conversions", "is_copied", "structure", "structures_of"]

WRITTEN_RINGS = (Ring.R0, Ring.R1)
"""Rings that have a program of their own; R2 has R0's."""

_TOKEN = re.compile(
    r"--[^\n]*|/\*.*?\*/|(?P<value>'(?:[^']|'')*'|\d+(?:\.\d+)?)|(?P<name>\w+|\"[^\"]*\"|`[^`]*`|\[[^\]]*\])|(?P<mark>[<>!=|]+|\S)",
    re.DOTALL,
)


def structures_of(shape: Shape, ring: Ring) -> frozenset[str]:
    """Return the structures of a ring's programs: one of a masked program, up to four of whole ones."""
    return frozenset(structure(template, shape.language) for template in shape.rings.text(ring).templates)


def is_copied(shape: Shape) -> bool:
    """Return whether a program of R1 is written as one of R0."""
    exact, reworded = (shape.rings.text(ring).templates for ring in WRITTEN_RINGS)
    return any(are_alike(one, other, shape.language) for one in exact for other in reworded)


def are_alike(one: str, other: str, domain: Domain) -> bool:
    """Return whether two programs that return the same are written alike.

    Because they return the same, a conversion that only one of them has changes nothing, and is read over.
    """
    ours, theirs = conversions(one, domain), conversions(other, domain)
    return structure(one, domain, without=ours - theirs) == structure(other, domain, without=theirs - ours)


class _Reader(NamedTuple):
    """How a program of one language is read."""

    fill: Callable[[re.Match[str]], str]
    structure: Callable[..., str]
    conversions: Callable[[str], frozenset[str]]
    is_kept: Callable[[str], bool]
    """Whether a word means the same in every program."""


def _reader(domain: Domain) -> _Reader:
    if domain is Domain.PYTHON:
        return _Reader(_fill_python, python_structure, python_conversions, iskeyword)
    # Here: loading the parser takes longer than reading a shape, and Python shapes need none of it.
    from leakscale_server.core.checks.sql_structure import sql_conversions, sql_structure  # noqa: PLC0415

    return _Reader(_fill_sql, sql_structure, sql_conversions, is_reserved)


@lru_cache(maxsize=4096)
def structure(template: str, domain: Domain, *, without: frozenset[str] = frozenset()) -> str:
    """Return the structure of a program as its author wrote it, placeholders included.

    Of a program that is not read as a tree, because the parser of SQL does not know what SQLite does or because it is
    nested too deep, the words are compared, with names and values taken out. Whether it runs is the sandbox's to say.

    Args:
        without: Conversions to read over, see `conversions`.
    """
    reader = _reader(domain)
    program = PLACEHOLDER.sub(reader.fill, template)
    try:
        return reader.structure(program, without=without)
    except (ValueError, RecursionError):
        return f"words {' '.join(_masked_words(program, reader.is_kept))}"


@lru_cache(maxsize=4096)
def conversions(template: str, domain: Domain) -> frozenset[str]:
    """Return the parts of a program that may change nothing, depending on its input; none of one that is no tree."""
    reader = _reader(domain)
    try:
        return reader.conversions(PLACEHOLDER.sub(reader.fill, template))
    except (ValueError, RecursionError):
        return frozenset()


def _fill_python(placeholder: re.Match[str]) -> str:
    return POLICY_NAME if placeholder[1] == RESERVED_SLOT else f"x_{placeholder[1]}"


def _fill_sql(placeholder: re.Match[str]) -> str:
    return "?" if placeholder[1] == RESERVED_SLOT else f"slot_{placeholder[1]}"


def _masked_words(program: str, is_kept: Callable[[str], bool]) -> Iterator[str]:
    for token in _TOKEN.finditer(program):
        match token.lastgroup:
            case "value":
                yield "0"
            case "name":
                yield token[0].lower() if is_kept(token[0].lower()) else "name"
            case "mark":
                yield token[0]

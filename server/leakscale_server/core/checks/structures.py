"""Whether programs differ in structure: in their syntax trees, with every name and value taken out.

Two shapes of one structure would be one shape of twice the weight, and a reworded program of the same structure would
be a copy. Operators and clauses stay: `=` and `>=` ask for other things. What does nothing goes, and so does the order
in which operands, conditions and definitions happen to stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from keyword import iskeyword

from leakscale.models import Domain, Ring
from leakscale_server.core.building.rendering import PLACEHOLDER
from leakscale_server.core.checks.python_structure import python_structure
from leakscale_server.core.format.keywords import is_reserved
from leakscale_server.core.format.schema import RESERVED_SLOT, Shape

__all__ = ["WRITTEN_RINGS", "structure", "structures_of"]

WRITTEN_RINGS = (Ring.R0, Ring.R1)
"""Rings that have a program of their own; R2 has R0's."""

_TOKEN = re.compile(
    r"--[^\n]*|/\*.*?\*/|(?P<value>'(?:[^']|'')*'|\d+(?:\.\d+)?)|(?P<name>\w+|\"[^\"]*\"|`[^`]*`|\[[^\]]*\])|(?P<mark>[<>!=|]+|\S)",
    re.DOTALL,
)


def structures_of(shape: Shape, ring: Ring) -> frozenset[str]:
    """Return the structures of a ring's programs: one of a masked program, up to four of whole ones."""
    return frozenset(structure(template, shape.language) for template in shape.rings.text(ring).templates)


@lru_cache(maxsize=4096)
def structure(template: str, domain: Domain) -> str:
    """Return the structure of a program as its author wrote it, placeholders included.

    Of a program that is not read as a tree, because the parser of SQL does not know what SQLite does or because it is
    nested too deep, the words are compared, with names and values taken out. Whether it runs is the sandbox's to say.
    """
    read: Callable[[str], str]
    if domain is Domain.PYTHON:
        program, read, is_kept = PLACEHOLDER.sub(_fill_python, template), python_structure, iskeyword
    else:
        # Here: loading the parser takes longer than reading a shape, and Python shapes need none of it.
        from leakscale_server.core.checks.sql_structure import sql_structure  # noqa: PLC0415

        program, read, is_kept = PLACEHOLDER.sub(_fill_sql, template), sql_structure, is_reserved
    try:
        return read(program)
    except (ValueError, RecursionError):
        return f"words {' '.join(_masked_words(program, is_kept))}"


def _fill_python(placeholder: re.Match[str]) -> str:
    return "(0)" if placeholder[1] == RESERVED_SLOT else f"x_{placeholder[1]}"


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

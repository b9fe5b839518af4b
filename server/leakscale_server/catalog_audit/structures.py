"""Whether programs differ in structure: in their syntax trees, with every name and value taken out.

Two shapes of one structure would be one shape of twice the weight, and a reworded program of the same structure would
be a copy. Operators and clauses stay: `=` and `>=` ask for other things.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import sqlglot
from sqlglot import exp

from leakscale.models import Domain, Ring
from leakscale_server.catalog_audit.findings import Finding, counted, find
from leakscale_server.catalog_audit.material import Material
from leakscale_server.core.building.rendering import PLACEHOLDER
from leakscale_server.core.format.schema import RESERVED_SLOT, Shape

__all__ = ["check_structures", "structure"]

_WRITTEN_RINGS = (Ring.R0, Ring.R1)
_NAME_FIELDS = ("id", "arg", "name", "attr", "asname", "module")
"""Fields of Python's syntax tree that hold a name, whatever it names."""


def check_structures(material: Material) -> Finding:
    """Check that no two programs of a domain have one structure, R0 and R1 of one shape included."""
    shapes = material.recipe.shapes
    return find("structures", f"{counted(len(shapes), 'shape')} in two wordings", _faults(shapes))


def _faults(shapes: tuple[Shape, ...]) -> Iterator[str]:
    owners: dict[str, str] = {}
    for shape in shapes:
        for ring in _WRITTEN_RINGS:
            name = f"{shape.id} in {ring}"
            try:
                found = {structure(template, shape.language) for template in shape.rings.text(ring).templates}
            except ValueError as error:
                yield f"{name}: {error}"
                continue
            for each in sorted(found):
                if each in owners:
                    yield f"{name} has the structure of {owners[each]}; write the program another way"
            owners |= dict.fromkeys(found, name)


def structure(program: str, domain: Domain) -> str:
    """Return the syntax tree of a program as its author wrote it, without names and values.

    Raises:
        ValueError: If it has none: a program that the sandbox would refuse, too.
    """
    return _sql_structure(program) if domain is Domain.SQL else _python_structure(program)


def _sql_structure(program: str) -> str:
    try:
        [tree] = sqlglot.parse(PLACEHOLDER.sub(_fill, program), read="sqlite")
    except (sqlglot.errors.SqlglotError, ValueError) as error:
        first = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).split("\n")[0]
        raise ValueError(f"the statement cannot be parsed: {first}") from error
    if tree is None:
        raise ValueError("the statement is empty")
    return f"sql {tree.transform(_mask)!r}"


def _fill(placeholder: re.Match[str]) -> str:
    return "0" if placeholder[1] == RESERVED_SLOT else f"slot_{placeholder[1]}"


def _mask(node: exp.Expression) -> exp.Expression:
    if isinstance(node, exp.Identifier):
        return exp.to_identifier("name")
    return exp.Literal.number(0) if isinstance(node, exp.Literal | exp.Null | exp.Boolean) else node


def _python_structure(program: str) -> str:
    tree = ast.parse(PLACEHOLDER.sub("(0)", program))
    for node in ast.walk(tree):
        for field in _NAME_FIELDS:
            if getattr(node, field, None) is not None:
                setattr(node, field, "name")
        if isinstance(node, ast.Constant):
            node.value = 0
    return f"python {ast.dump(tree)}"

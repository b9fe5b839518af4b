"""What the normal form of SQL statements asks of the parser's tree: rewriting it, and the parts of a query."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from sqlglot import exp

__all__ = ["Node", "is_number", "is_plain_query", "operands", "part", "rewritten"]

Node: TypeAlias = Any
"""A node of the parser's tree, whose base class has another name in each of its major versions."""

_CLAUSES: Final = ("group", "having", "distinct", "limit", "offset", "qualify", "windows", "sample")
"""Clauses that make more of rows than choosing, joining and ordering them."""


def rewritten(tree: Node, step: Callable[[Node], Node | None]) -> Node:
    """Rewrite every node from the leaves up; a step returns the node itself, another one, or None to take it out."""
    nodes = list(tree.walk(bfs=True))
    for node in reversed(nodes):
        new = step(node)
        if new is node:
            continue
        if node is tree:
            # Out of what it was a part of: a whole statement has no parent.
            tree = node if new is None else new.pop()
        elif new is None:
            node.pop()
        else:
            node.replace(new)
    return tree


def operands(node: Node, kind: type[Node]) -> list[Node]:
    """Return what a chain of one operator joins, in order."""
    if type(node) is kind:
        return operands(node.this, kind) + operands(node.expression, kind)
    return [node]


def part(query: Node, kind: type[Node]) -> Node | None:
    """Return the clause of a query that is of a kind; its key differs between versions of the parser."""
    return next((each for each in query.args.values() if isinstance(each, kind)), None)


def is_plain_query(node: Node) -> bool:
    """Return whether a query does nothing but choose, join, compute and order rows."""
    return (
        isinstance(node, exp.Select)
        and not any(node.args.get(clause) for clause in _CLAUSES)
        and part(node, exp.With) is None
        and not any(each.find(exp.AggFunc, exp.Window) for each in node.selects)
    )


def is_number(node: Node, number: int) -> bool:
    """Return whether a node is a whole number as it is written."""
    return isinstance(node, exp.Literal) and not node.is_string and node.this == str(number)

"""The structure of an SQL statement: its syntax tree without names, values, clauses without effect and chance order.

A normal form for telling statements apart, and no optimizer: two statements of one structure need not return the same.
It sees through table expressions and subqueries that are read once and only choose, join or compute rows, neutral
arithmetic, conditions that always hold, and joins written as conditions. It does *not* see through a negation, a set
operation in place of a condition, a join in place of a subquery inside a condition, or another function with the same
result; who writes that has written something else.
"""

from __future__ import annotations

from typing import Final

import sqlglot
from sqlglot import exp

from leakscale_server.core.checks.sql_conversions import drop_conversions, find_conversions
from leakscale_server.core.checks.sql_expressions import simplified
from leakscale_server.core.checks.sql_queries import drop_unread_tables, inline_tables, merged, plain_clauses
from leakscale_server.core.checks.sql_trees import Node, operands, rewritten

__all__ = ["sql_conversions", "sql_structure"]

_ROUNDS_MAX: Final = 20
"""How often a statement is written more plainly; what takes more is compared as it is then."""
_MIRRORED: Final[dict[type[Node], type[Node]]] = {exp.GT: exp.LT, exp.GTE: exp.LTE}
_COMMUTATIVE: Final = (exp.EQ, exp.NEQ, exp.And, exp.Or, exp.Add, exp.Mul, exp.BitwiseAnd, exp.BitwiseOr)
_CHAINS: Final = (exp.And, exp.Or, exp.Add, exp.Mul, exp.BitwiseAnd, exp.BitwiseOr)
_IDLE_WORDS: Final = ("INNER", "OUTER", "CROSS")
"""Words of a join that say what is so without them."""


def sql_structure(statement: str, *, without: frozenset[str] = frozenset()) -> str:
    """Return the structure of one statement in SQLite's dialect.

    Args:
        without: Conversions to read over, of those that `sql_conversions` finds.

    Raises:
        ValueError: If the parser cannot read it; SQLite may.
        RecursionError: If it is nested too deep.
    """
    tree = drop_conversions(_parsed(statement), without)
    tree = _written_plainly(tree)
    for step in (_bare, _masked, _ordered):
        tree = rewritten(tree, step)
    return f"sql {tree!r}"


def sql_conversions(statement: str) -> frozenset[str]:
    """Return the parts of a statement that may keep rows and values as they are, such as DISTINCT of different rows.

    Raises:
        ValueError: If the parser cannot read it.
    """
    return find_conversions(_parsed(statement))


def _parsed(statement: str) -> Node:
    try:
        [tree] = sqlglot.parse(statement, read="sqlite")
    except (sqlglot.errors.SqlglotError, ValueError) as error:
        raise ValueError("the statement cannot be parsed") from error
    if tree is None:
        raise ValueError("the statement is empty")
    return tree


def _written_plainly(tree: Node) -> Node:
    """Take out what changes nothing, until nothing more can be."""
    before = ""
    for _ in range(_ROUNDS_MAX):
        if before == (before := repr(tree)):
            break
        drop_unread_tables(tree)
        inline_tables(tree)
        for step in (simplified, plain_clauses, merged):
            tree = rewritten(tree, step)
    return tree


def _bare(node: Node) -> Node | None:
    """Take off comments, aliases and qualifiers."""
    node.comments = None
    match node:
        case exp.Alias():
            return node.this
        case exp.TableAlias() if isinstance(node.parent, exp.Table | exp.Subquery):
            return None
        case exp.Column():
            return exp.column(node.this.copy()) if isinstance(node.this, exp.Identifier) else node
        case exp.Join():
            for part in ("kind", "side"):
                if str(node.args.get(part) or "").upper() in _IDLE_WORDS:
                    node.set(part, None)
        case exp.Ordered():
            node.set("desc", bool(node.args.get("desc")))
    return node


def _masked(node: Node) -> Node:
    if isinstance(node, exp.Identifier):
        return exp.to_identifier("name")
    if isinstance(node, exp.Literal | exp.Null | exp.Boolean | exp.Placeholder):
        return exp.Literal.number(0)
    return node


def _ordered(node: Node) -> Node:
    """Write what can be written in two orders in one of them."""
    if type(node) in _MIRRORED:
        return _MIRRORED[type(node)](this=node.expression.copy(), expression=node.this.copy())
    # A chain is taken apart once, at its top: once for each of its links would take time in their square.
    if isinstance(node, _COMMUTATIVE) and not (isinstance(node, _CHAINS) and type(node.parent) is type(node)):
        parts = operands(node, type(node)) if isinstance(node, _CHAINS) else [node.left, node.right]
        first, *others = sorted((part.copy() for part in parts), key=repr)
        for part in others:
            first = type(node)(this=first, expression=part)
        return first
    return node

"""The structure of an SQL statement: its syntax tree without names, values, clauses without effect and chance order.

A normal form for telling statements apart, and no optimizer: two statements of one structure need not return the same.
It does *not* see through a negation, nor through a table expression or a subquery that only passes rows on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import sqlglot
from sqlglot import exp

__all__ = ["sql_structure"]

Node: TypeAlias = Any
"""A node of the parser's tree, whose base class has another name in each of its major versions."""

_MIRRORED: Final[dict[type[Node], type[Node]]] = {exp.GT: exp.LT, exp.GTE: exp.LTE}
_COMMUTATIVE: Final = (exp.EQ, exp.NEQ, exp.And, exp.Or, exp.Add, exp.Mul, exp.BitwiseAnd, exp.BitwiseOr)
_CHAINS: Final = (exp.And, exp.Or, exp.Add, exp.Mul, exp.BitwiseAnd, exp.BitwiseOr)
_IDLE_WORDS: Final = ("INNER", "OUTER")
"""Words of a join that say what is so without them."""


def sql_structure(statement: str) -> str:
    """Return the structure of one statement in SQLite's dialect.

    Raises:
        ValueError: If the parser cannot read it; SQLite may.
        RecursionError: If it is nested too deep.
    """
    try:
        [tree] = sqlglot.parse(statement, read="sqlite")
    except (sqlglot.errors.SqlglotError, ValueError) as error:
        raise ValueError("the statement cannot be parsed") from error
    if tree is None:
        raise ValueError("the statement is empty")
    _drop_unread_tables(tree)
    for step in (_bare, _masked, _ordered):
        tree = _rewritten(tree, step)
    return f"sql {tree!r}"


def _rewritten(tree: Node, step: Callable[[Node], Node | None]) -> Node:
    """Rewrite every node from the leaves up."""
    nodes = list(tree.walk(bfs=True))
    for node in reversed(nodes):
        new = step(node)
        if new is node:
            continue
        if node is tree:
            tree = new or tree
        elif new is None:
            node.pop()
        else:
            node.replace(new)
    return tree


def _drop_unread_tables(tree: Node) -> None:
    """Take out table expressions that nothing reads, until every one of them is read."""
    while True:
        read = {table.name.lower() for table in tree.find_all(exp.Table)}
        unread = [each for each in tree.find_all(exp.CTE) if each.alias.lower() not in read]
        if not unread:
            return
        for each in unread:
            clause = each.parent
            each.pop()
            if clause is not None and not clause.expressions:
                clause.pop()


def _bare(node: Node) -> Node | None:
    """Take off comments, parentheses, aliases and qualifiers; the tree has the order of evaluation already."""
    node.comments = None
    match node:
        case exp.Paren() | exp.Alias():
            return node.this
        case exp.TableAlias() if isinstance(node.parent, exp.Table):
            return None
        case exp.Column():
            return exp.column(node.this.copy()) if isinstance(node.this, exp.Identifier) else node
        case exp.Join():
            for part in ("kind", "side"):
                if str(node.args.get(part) or "").upper() in _IDLE_WORDS:
                    node.set(part, None)
        case exp.Ordered():
            node.set("desc", bool(node.args.get("desc")))
        case exp.Where() if _is_constant(node.this):
            return None
        case exp.And():
            return _without_constants(node)
    return node


def _without_constants(node: exp.And) -> Node:
    """Take out conditions that no row decides, such as `1 = 1`."""
    sides = [side for side in (node.left, node.right) if not _is_constant(side)]
    return node if len(sides) != 1 else sides[0]


def _is_constant(node: Node) -> bool:
    return not any(isinstance(each, exp.Column | exp.Select | exp.Func | exp.Placeholder) for each in node.walk())


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
        parts = _operands(node, type(node)) if isinstance(node, _CHAINS) else [node.left, node.right]
        first, *others = sorted((part.copy() for part in parts), key=repr)
        for part in others:
            first = type(node)(this=first, expression=part)
        return first
    return node


def _operands(node: Node, kind: type[Node]) -> list[Node]:
    if type(node) is kind:
        return _operands(node.this, kind) + _operands(node.expression, kind)
    return [node]

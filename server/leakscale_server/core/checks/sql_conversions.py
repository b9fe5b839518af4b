"""Parts of SQL statements that may keep rows and values as they are: DISTINCT of different rows, CAST to the same type.

Whether they do hangs on the data. Of two statements that return the same, a part that only one of them has
does nothing.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from leakscale_server.core.checks.sql_trees import Node, rewritten

__all__ = ["drop_conversions", "find_conversions"]

_OF_VALUES: Final[dict[str, type[Node]]] = {
    "abs": exp.Abs,
    "cast": exp.Cast,
    "coalesce": exp.Coalesce,
    "lower": exp.Lower,
    "round": exp.Round,
    "trim": exp.Trim,
    "upper": exp.Upper,
}
_OF_ROWS: Final[dict[str, type[Node]]] = {"distinct": exp.Distinct, "limit": exp.Limit}
_GROUP: Final = "group"
"""Of a query that computes nothing of its groups, and so returns each once."""
_ORDER: Final = "order"
"""Of the whole result; a shape whose rows are ordered has one in each program."""


def find_conversions(tree: Node) -> frozenset[str]:
    """Return the names of the parts that a statement has."""
    found = {name for name, kind in (_OF_VALUES | _OF_ROWS).items() if tree.find(kind)}
    found |= {_GROUP for each in tree.find_all(exp.Group) if _only_tells_apart(each)}
    return frozenset(found | ({_ORDER} if tree.args.get(_ORDER) else set()))


def drop_conversions(tree: Node, names: frozenset[str]) -> Node:
    """Take the parts of some names out of a statement, unless the masked value would go with them."""
    if _ORDER in names and not tree.args.get("limit"):
        tree.set(_ORDER, None)
    values = tuple(kind for name, kind in _OF_VALUES.items() if name in names)
    rows = tuple(kind for name, kind in _OF_ROWS.items() if name in names)

    def step(node: Node) -> Node | None:
        if isinstance(node, values):
            dropped = [each for key, each in node.args.items() if key != "this"]
            return node if any(map(_holds_mask, dropped)) else node.this
        if isinstance(node, exp.Group) and _GROUP in names and _only_tells_apart(node):
            return None
        if isinstance(node, rows):
            # DISTINCT inside a function holds what the function gets.
            return node if _holds_mask(node) or isinstance(node.parent, exp.Func) else None
        return node

    return rewritten(tree, step) if names else tree


def _only_tells_apart(group: Node) -> bool:
    query = group.parent
    return isinstance(query, exp.Select) and not query.args.get("having") and query.find(exp.AggFunc) is None


def _holds_mask(part: object) -> bool:
    if isinstance(part, list):
        return any(map(_holds_mask, part))
    return hasattr(part, "find") and not isinstance(part, str) and part.find(exp.Placeholder) is not None

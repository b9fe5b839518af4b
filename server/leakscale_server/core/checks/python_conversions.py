"""Calls in Python programs that may give what they get: `sorted` of what is in order, `int` of an integer.

Whether they do hangs on what they get. Of two programs that return the same, a conversion that only one of them has
does nothing.
"""

from __future__ import annotations

import ast
from typing import Final

__all__ = ["drop_conversions", "find_conversions"]

_FUNCTIONS: Final = frozenset(
    {"abs", "bool", "deepcopy", "dict", "float", "frozenset", "int", "reversed", "round", "set", "sorted", "str"}
)
_METHODS: Final = frozenset({"casefold", "lower", "rstrip", "lstrip", "strip", "upper"})


def find_conversions(tree: ast.AST) -> frozenset[str]:
    """Return the names of the conversions that a program calls."""
    return frozenset(name for node in ast.walk(tree) if (name := _name(node)))


def drop_conversions(tree: ast.AST, names: frozenset[str], *, kept: str) -> None:
    """Write what conversions of some names get in place of them.

    Args:
        kept: A name that must not go with what is dropped.
    """
    _Converted(names, kept).visit(tree)


def _name(node: ast.AST) -> str:
    match node:
        case ast.Call(func=ast.Name(id=name), args=[_, *_]) if name in _FUNCTIONS:
            return name
        case ast.Call(func=ast.Attribute(attr=name), args=[]) if name in _METHODS:
            return name
    return ""


class _Converted(ast.NodeTransformer):
    def __init__(self, names: frozenset[str], kept: str) -> None:
        self._names = names
        self._kept = kept

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if _name(node) not in self._names:
            return node
        value = node.func.value if isinstance(node.func, ast.Attribute) else node.args[0]
        rest = [*node.args[1:], *node.keywords]
        return node if any(self._holds_kept(each) for each in rest) or isinstance(value, ast.Starred) else value

    def _holds_kept(self, tree: ast.AST) -> bool:
        return any(isinstance(node, ast.Name) and node.id == self._kept for node in ast.walk(tree))

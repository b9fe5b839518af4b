"""What the normal form of Python programs asks of a syntax tree: sizes, equality, purity, truth, substitution."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from typing import Final, TypeVar

__all__ = [
    "arguments_of",
    "count_nodes",
    "is_pure",
    "is_same",
    "is_small",
    "joined",
    "negated",
    "read_count",
    "read_names",
    "substituted",
    "truth_of",
    "without_count",
]

Tree = TypeVar("Tree", bound=ast.AST)

_SMALL_NODES: Final = 16
"""An expression of so many nodes may stand in several places: a tree with it grows by a factor, and no further."""
_PURE_CALLS: Final = frozenset(
    {"abs", "all", "any", "bool", "float", "int", "isinstance", "len", "max", "min", "round", "str", "sum", "type"}
)
_IMPURE: Final = (
    *(ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.List, ast.Set, ast.Dict),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
"""What has an effect, or is another object each time."""
_OPPOSITES: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_REFLEXIVE: Final = (ast.Eq, ast.LtE, ast.GtE, ast.Is)
_IRREFLEXIVE: Final = (ast.NotEq, ast.Lt, ast.Gt, ast.IsNot)
_TRUE_OF_LENGTHS: Final = frozenset({(ast.GtE, 0), (ast.Gt, -1), (ast.NotEq, -1)})
_FALSE_OF_LENGTHS: Final = frozenset({(ast.Lt, 0), (ast.LtE, -1), (ast.Eq, -1)})
_SWAPPED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
}


def count_nodes(tree: ast.AST) -> int:
    """Return how many nodes a tree has."""
    return sum(1 for _ in ast.walk(tree))


def is_small(node: ast.AST) -> bool:
    """Return whether an expression may be written more than once."""
    return count_nodes(node) <= _SMALL_NODES


def is_same(one: ast.AST, other: ast.AST) -> bool:
    """Return whether two trees are written alike."""
    return ast.dump(one) == ast.dump(other)


def is_pure(node: ast.AST) -> bool:
    """Return whether an expression does nothing but give a value, and the same object's worth each time."""
    return not any(
        isinstance(each, _IMPURE)
        or (isinstance(each, ast.Call) and not (isinstance(each.func, ast.Name) and each.func.id in _PURE_CALLS))
        for each in ast.walk(node)
    )


def read_count(tree: ast.AST, name: str) -> int:
    """Count where a name is read."""
    return sum(
        1
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    )


def read_names(tree: ast.AST) -> set[str]:
    """Return the names that are read anywhere."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def without_count(target: ast.expr, iterated: ast.expr, read: set[str]) -> tuple[ast.expr, ast.expr]:
    """Return what a loop binds and runs over, without a count that nothing reads."""
    match target, iterated:
        case ast.Tuple(elts=[ast.Name(id=name), item]), ast.Call(func=ast.Name(id="enumerate"), args=[only, *_]) if (
            name not in read
        ):
            return item, only
    return target, iterated


def arguments_of(written: ast.arguments, call: ast.Call) -> dict[str, ast.expr] | None:
    """Return what a call passes for each argument of a function, or its default; None where that takes a run to see."""
    names = [argument.arg for argument in written.args]
    if written.posonlyargs or written.kwonlyargs or written.vararg or written.kwarg or len(call.args) > len(names):
        return None
    values = dict(zip(reversed(names), reversed(written.defaults), strict=False))
    values.update(zip(names, call.args, strict=False))
    values.update((keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg is not None)
    is_plain = all(keyword.arg for keyword in call.keywords) and not any(
        isinstance(value, ast.Starred) for value in values.values()
    )
    return values if is_plain and set(values) == set(names) else None


def joined(conditions: list[ast.expr]) -> ast.expr:
    """Return conditions as one, of which all must hold."""
    return conditions[0] if len(conditions) == 1 else ast.BoolOp(ast.And(), conditions)


def negated(node: ast.expr) -> ast.expr:
    """Return what holds when a condition does not, as it is written most simply."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return operand
        case ast.Compare(ops=[operator]):
            return ast.Compare(node.left, [_OPPOSITES[type(operator)]()], node.comparators)
    return ast.UnaryOp(ast.Not(), node)


def truth_of(node: ast.expr) -> bool | None:
    """Return whether a condition always holds or never does; None where that hangs on values."""
    match node:
        case ast.Constant(value=value):
            return bool(value)
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            return _truth_of_comparison(left, operator, right)
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, ast.Name(id="object")]):
            return True
    return None


def _truth_of_comparison(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> bool | None:
    if is_pure(left) and is_same(left, right):
        return True if isinstance(operator, _REFLEXIVE) else False if isinstance(operator, _IRREFLEXIVE) else None
    if _is_length(right):
        left, right, operator = right, left, _SWAPPED.get(type(operator), type(operator))()
    if _is_length(left):
        known = (type(operator), _whole(right))
        return True if known in _TRUE_OF_LENGTHS else False if known in _FALSE_OF_LENGTHS else None
    match left, operator, right:
        case ast.Constant(value=one), ast.Eq(), ast.Constant(value=other):
            return bool(one == other)
        case ast.Constant(value=one), ast.NotEq(), ast.Constant(value=other):
            return bool(one != other)
    return None


def _is_length(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"


def _whole(node: ast.expr) -> int | None:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return -value
    return None


def substituted(tree: Tree, values: Mapping[str, ast.expr]) -> Tree:
    """Return a tree with expressions in the place of names that are read; the tree itself is changed, too."""
    return _Substitution(values).visit(tree)  # type: ignore[no-any-return]


class _Substitution(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self._values.get(node.id)
        return node if value is None or not isinstance(node.ctx, ast.Load) else copy.deepcopy(value)

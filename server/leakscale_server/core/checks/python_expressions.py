"""Python's expressions without what changes nothing: `x + 0`, `[*x]`, `list([…])`, `c or True`, a lambda called."""

from __future__ import annotations

import ast
from typing import Any, Final

from leakscale_server.core.checks.python_trees import (
    arguments_of,
    is_pure,
    is_same,
    is_small,
    joined,
    negated,
    read_count,
    read_names,
    substituted,
    truth_of,
    without_count,
)

__all__ = ["simplify_expressions"]

_NEUTRAL_RIGHT: Final[dict[type[ast.operator], int]] = {
    ast.Add: 0,
    ast.Sub: 0,
    ast.BitOr: 0,
    ast.BitXor: 0,
    ast.LShift: 0,
    ast.RShift: 0,
    ast.Mult: 1,
    ast.Pow: 1,
}
_NEUTRAL_LEFT: Final = (ast.Add, ast.Mult, ast.BitOr, ast.BitXor)
_COPIES: Final = frozenset({"list", "tuple", "iter"})
"""Functions that give what they get, as far as a result tells: one is compared by its values."""
_IDLE_KEYWORDS: Final = {"reverse": False, "key": None}
_IDLE_SECOND: Final = {"sum": 0, "enumerate": 0}


def simplify_expressions(tree: ast.Module) -> None:
    """Write every expression of a program plainly."""
    _Plain(read_names(tree)).visit(tree)


class _Plain(ast.NodeTransformer):
    """Rewrites every expression, from the leaves up."""

    def __init__(self, read: set[str]) -> None:
        self._read = read

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if _is_neutral(node.op, node.right):
            return node.left
        if isinstance(node.op, _NEUTRAL_LEFT) and _is_neutral(node.op, node.left):
            return node.right
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return operand
            case ast.UnaryOp(operand=ast.UnaryOp(operand=operand) as inner) if type(node.op) is type(inner.op):
                return operand
            case ast.UnaryOp(op=ast.Not(), operand=ast.Constant(value=value)):
                return ast.Constant(not value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
                return ast.Constant(-value)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        is_and = isinstance(node.op, ast.And)
        kept: list[ast.expr] = []
        for value in node.values:
            truth = truth_of(value)
            if truth is (not is_and) or any(is_same(value, negated(each)) for each in kept):
                return ast.Constant(not is_and)
            if not is_and and kept and _is_empty(value):
                continue
            if truth is None and not any(is_same(value, each) for each in kept):
                kept.append(value)
        if not kept:
            return ast.Constant(is_and)
        return kept[0] if len(kept) == 1 else ast.BoolOp(node.op, kept)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) > 1:
            operands = [node.left, *node.comparators]
            pairs = zip(operands, node.ops, operands[1:], strict=False)
            return joined([ast.Compare(left, [operator], [right]) for left, operator, right in pairs])
        match node.ops[0], node.comparators[0]:
            case ast.In(), ast.List(elts=[ast.expr() as only]) | ast.Tuple(elts=[only]) | ast.Set(elts=[only]):
                return ast.Compare(node.left, [ast.Eq()], [only])
        truth = truth_of(node)
        return node if truth is None else ast.Constant(truth)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        truth = truth_of(node.test)
        if truth is not None or is_same(node.body, node.orelse):
            return node.body if truth is not False else node.orelse
        match node.body, node.orelse:
            case ast.Constant(value=True), ast.Constant(value=False):
                return node.test
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        node.keywords = [each for each in node.keywords if not _is_idle_keyword(each)]
        match node:
            case ast.Call(func=ast.Lambda() as function):
                return _called(function, node) or node
            case ast.Call(func=ast.Attribute(value=value, attr="copy"), args=[], keywords=[]):
                return value
            case ast.Call(func=ast.Name(id=name), keywords=[]):
                return _plain_call(node, name)
            case ast.Call(func=ast.Name(id="sorted"), args=[ast.Call(func=ast.Name(id="sorted"), args=[_]) as inner]):
                return inner if list(map(ast.dump, inner.keywords)) == list(map(ast.dump, node.keywords)) else node
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        self.generic_visit(node)
        return node if node.target.id in self._read else node.value

    def visit_List(self, node: ast.List) -> ast.expr:
        return self._display(node)

    def visit_Tuple(self, node: ast.Tuple) -> ast.expr:
        return self._display(node)

    def _display(self, node: ast.List | ast.Tuple) -> ast.expr:
        self.generic_visit(node)
        match node.elts:
            case [ast.Starred(value=value)] if isinstance(node.ctx, ast.Load):
                return value
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Subscript(value=ast.List(elts=[only]) | ast.Tuple(elts=[only]), slice=ast.Constant(value=0)):
                return only
        if isinstance(node.slice, ast.Slice) and isinstance(node.ctx, ast.Load):
            part = node.slice
            part.lower = None if _is_number(part.lower, 0) else part.lower
            part.step = None if _is_number(part.step, 1) else part.step
            if part.lower is part.upper is part.step is None:
                return node.value
        return node

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        return self.visit_ListComp(ast.ListComp(node.elt, node.generators))

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        self._comprehension(node)
        match node:
            case ast.ListComp(
                elt=ast.Name(id=name), generators=[ast.comprehension(target=ast.Name(id=target), ifs=[])]
            ) if name == target:
                return node.generators[0].iter
        return node

    def visit_SetComp(self, node: ast.SetComp) -> ast.expr:
        return self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> ast.expr:
        return self._comprehension(node)

    def _comprehension(self, node: Any) -> ast.expr:
        """Join the conditions of each loop, and take out loops over one value, which only name it."""
        self.generic_visit(node)
        for place, loop in reversed(list(enumerate(node.generators))):
            loop.target, loop.iter = without_count(loop.target, loop.iter, self._read)
            loop.ifs = [joined(loop.ifs)] if loop.ifs else []
            if loop.ifs and truth_of(loop.ifs[0]):
                loop.ifs = []
            match loop:
                case ast.comprehension(
                    target=ast.Name(id=name), iter=ast.List(elts=[value]) | ast.Tuple(elts=[value])
                ) if place and (is_small(value) or read_count(node, name) <= 1):
                    node.generators[place - 1].ifs += loop.ifs
                    del node.generators[place]
                    substituted(node, {name: value})
        return node  # type: ignore[no-any-return]


def _is_empty(node: ast.expr) -> bool:
    match node:
        case ast.List(elts=[]) | ast.Tuple(elts=[]) | ast.Dict(keys=[]) | ast.Constant(value=""):
            return True
    return False


def _is_neutral(operator: ast.operator, node: ast.expr) -> bool:
    if _is_empty(node):
        return isinstance(operator, ast.Add)
    return _is_number(node, _NEUTRAL_RIGHT.get(type(operator)))


def _is_number(node: ast.expr | None, number: int | None) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value == number


def _is_idle_keyword(keyword: ast.keyword) -> bool:
    match keyword:
        case ast.keyword(arg=str(name), value=ast.Constant(value=value)):
            return name in _IDLE_KEYWORDS and value is _IDLE_KEYWORDS[name]
    return False


def _plain_call(node: ast.Call, name: str) -> ast.expr:  # noqa: PLR0911 - one line a function
    match name, node.args:
        case ("list" | "tuple", []):
            return ast.List([], ast.Load())
        case "dict", []:
            return ast.Dict([], [])
        case _, [only] if name in _COPIES and not isinstance(only, ast.Starred):
            return only
        case "bool", [ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()) as only]:
            return only
        case "set", [ast.ListComp(elt=elt, generators=generators)]:
            return ast.SetComp(elt, generators)
        case "dict", [ast.ListComp(elt=ast.Tuple(elts=[key, value]), generators=generators)]:
            return ast.DictComp(key, value, generators)
        case "sorted", [ast.Call(func=ast.Name(id="sorted"), args=[_], keywords=[]) as inner]:
            return inner
        case "map", [
            ast.Lambda(args=ast.arguments(args=[ast.arg(arg=taken)]), body=ast.Name(id=given)),
            only,
        ] if taken == given:
            return only
        case "range", [ast.Constant(value=1)]:
            return ast.List([ast.Constant(0)], ast.Load())
        case "range", [first, last] if _is_number(first, 0):
            node.args = [last]
        case "range", [first, last, step] if _is_number(step, 1):
            node.args = [last] if _is_number(first, 0) else [first, last]
        case _, [first, second] if name in _IDLE_SECOND and _is_number(second, _IDLE_SECOND[name]):
            node.args = [first]
    return node


def _called(function: ast.Lambda, call: ast.Call) -> ast.expr | None:
    """Return what a call of a function gives, with its arguments in place; None where that takes more than one look."""
    written = function.args
    values = arguments_of(written, call)
    if values is None:
        return None
    is_placed = all(
        read_count(function.body, name) <= 1 or (is_small(value) and is_pure(value)) for name, value in values.items()
    )
    return substituted(function.body, values) if is_placed else None

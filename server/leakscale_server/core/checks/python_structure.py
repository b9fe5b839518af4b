"""The structure of a Python program: its syntax tree without names, values, code without effect and chance order.

A normal form for telling programs apart, and no compiler: two programs of one structure need not return the same. It
does *not* see through a negation, nor through a value that goes by way of a variable or a function; who writes that has
written something else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Final

__all__ = ["python_structure"]

_NAME_FIELDS: Final = ("id", "arg", "name", "attr", "asname", "module")
"""Fields of Python's syntax tree that hold a name, whatever it names."""
_LEAVING: Final = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_BODIES: Final = ("body", "orelse", "finalbody")
_MIRRORED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {ast.Gt: ast.Lt, ast.GtE: ast.LtE}
_SYMMETRIC: Final = (ast.Eq, ast.NotEq)
_COMMUTATIVE: Final = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)


def python_structure(program: str) -> str:
    """Return the structure of a module.

    Raises:
        ValueError: If it cannot be parsed.
        RecursionError: If it is nested too deep.
    """
    try:
        tree = ast.parse(program)
    except SyntaxError as error:
        raise ValueError(str(error)) from error
    _drop_idle_code(tree)
    _mask(tree)
    return f"python {ast.dump(_Ordered().visit(tree))}"


def _drop_idle_code(tree: ast.Module) -> None:
    """Take out what is never reached, never read or does nothing, until nothing more can be."""
    before = -1
    while before != (before := sum(1 for _ in ast.walk(tree))):
        read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        for node in ast.walk(tree):
            for field in _BODIES:
                if isinstance(statements := getattr(node, field, None), list):
                    setattr(node, field, list(_working(statements, read)))


def _working(statements: Iterable[ast.stmt], read: set[str]) -> Iterable[ast.stmt]:
    for statement in statements:
        match statement:
            case ast.If(test=ast.Constant(value=value)):
                yield from statement.body if value else statement.orelse
            case ast.AnnAssign(target=target, value=ast.expr() as value) if not _is_unread(statement, read):
                yield ast.Assign(targets=[target], value=value)
            case _ if not _is_idle(statement, read):
                yield statement
        if isinstance(statement, _LEAVING):
            return


def _is_idle(statement: ast.stmt, read: set[str]) -> bool:
    match statement:
        case ast.Pass() | ast.Expr(value=ast.Constant()) | ast.AnnAssign(value=None):
            return True
        case ast.While(test=ast.Constant(value=value), orelse=[]):
            return not value
        case ast.Assert(test=ast.Constant(value=value)):
            return bool(value)
    return _is_unread(statement, read)


def _is_unread(statement: ast.stmt, read: set[str]) -> bool:
    """Return whether a statement does nothing but bind names that are not read anywhere."""
    bound: list[str]
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return name != "transform" and name not in read
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            bound = [(each.asname or each.name).partition(".")[0] for each in names]
        case ast.Assign(targets=targets):
            if not all(isinstance(target, ast.Name) for target in targets):
                return False
            bound = [target.id for target in targets if isinstance(target, ast.Name)]
        case ast.AugAssign(target=ast.Name(id=name)) | ast.AnnAssign(target=ast.Name(id=name)):
            bound = [name]
        case _:
            return False
    return not read.intersection(bound)


def _mask(tree: ast.Module) -> None:
    """Give every name and every value one spelling, and drop what Python's reader alone is told."""
    for node in ast.walk(tree):
        for field in _NAME_FIELDS:
            if getattr(node, field, None) is not None:
                setattr(node, field, "name")
        match node:
            case ast.Constant():
                node.value, node.kind = 0, None
            case ast.FunctionDef():
                node.returns = None
            case ast.arg():
                node.annotation = None


class _Ordered(ast.NodeTransformer):
    """Writes what can be written in two orders in one of them, from the leaves up."""

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) == 1:
            return _compared(node.left, node.ops[0], node.comparators[0])
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        node.values = _sorted([self.visit(value) for value in _conditions(node, type(node.op))])
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        if not isinstance(node.op, _COMMUTATIVE):
            return self.generic_visit(node)  # type: ignore[return-value]
        operator = type(node.op)
        # A chain is taken apart once, at its top: once for each of its links would take time in their square.
        joined, *others = _sorted([self.visit(operand) for operand in _operands(node, operator)])
        for part in others:
            joined = ast.BinOp(joined, operator(), part)
        return joined


def _compared(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> ast.expr:
    mirrored = _MIRRORED.get(type(operator))
    if mirrored is not None:
        left, operator, right = right, mirrored(), left
    elif isinstance(operator, _SYMMETRIC):
        left, right = _sorted([left, right])
    return ast.Compare(left, [operator], [right])


def _conditions(node: ast.expr, operator: type[ast.boolop]) -> list[ast.expr]:
    if isinstance(node, ast.BoolOp) and isinstance(node.op, operator):
        return [each for value in node.values for each in _conditions(value, operator)]
    return [node]


def _operands(node: ast.expr, operator: type[ast.operator]) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, operator):
        return _operands(node.left, operator) + _operands(node.right, operator)
    return [node]


def _sorted(parts: list[ast.expr]) -> list[ast.expr]:
    return sorted(parts, key=ast.dump)

"""The structure of a Python program: its syntax tree without names, values, code without effect and chance order.

A normal form for telling programs apart, and no compiler: two programs of one structure need not return the same. It
sees through temporary variables, functions that are called in one place, neutral arithmetic, conditions that always
hold, copies of lists, and a choice written as a branch or as an expression. It does *not* see through a negation, a
loop in place of a comprehension, two loops in place of one, another function with the same result, nor lines in another
order; who writes that has written something else.
"""

from __future__ import annotations

import ast
from typing import Final

from leakscale_server.core.checks.python_conversions import drop_conversions, find_conversions
from leakscale_server.core.checks.python_expressions import simplify_expressions
from leakscale_server.core.checks.python_inlining import inline_functions, inline_values
from leakscale_server.core.checks.python_statements import drop_idle_code, drop_imports
from leakscale_server.core.checks.python_trees import count_nodes

__all__ = ["POLICY_NAME", "python_conversions", "python_structure"]

POLICY_NAME: Final = "masked_policy_value"
"""Stands for the masked value in a program that is read for its structure."""
_ROUNDS_MAX: Final = 20
"""How often a program is written more plainly; what takes more is compared as it is then."""
_INLINED_NODES_MAX: Final = 3_000
"""Of a program whose names are followed to what they carry; ten times the largest that ships."""
_NAME_FIELDS: Final = ("id", "arg", "name", "attr", "asname", "module")
"""Fields of Python's syntax tree that hold a name, whatever it names."""
_MIRRORED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {ast.Gt: ast.Lt, ast.GtE: ast.LtE}
_SYMMETRIC: Final = (ast.Eq, ast.NotEq)
_COMMUTATIVE: Final = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)


def python_structure(program: str, *, without: frozenset[str] = frozenset()) -> str:
    """Return the structure of a module.

    Args:
        without: Conversions to read over, of those that `python_conversions` finds.

    Raises:
        ValueError: If it cannot be parsed.
        RecursionError: If it is nested too deep.
    """
    tree = _parsed(program)
    drop_conversions(tree, without, kept=POLICY_NAME)
    _write_plainly(tree)
    masked = _Masked().visit(tree)
    return f"python {ast.dump(_Ordered().visit(masked))}"


def python_conversions(program: str) -> frozenset[str]:
    """Return the functions of a module that may give what they get, such as `sorted` of what is in order.

    Raises:
        ValueError: If it cannot be parsed.
    """
    return find_conversions(_parsed(program))


def _parsed(program: str) -> ast.Module:
    try:
        return ast.parse(program)
    except SyntaxError as error:
        raise ValueError(str(error)) from error


def _write_plainly(tree: ast.Module) -> None:
    """Take out what changes nothing, until nothing more can be."""
    drop_imports(tree)
    before = ""
    for _ in range(_ROUNDS_MAX):
        if before == (before := ast.dump(tree)):
            return
        simplify_expressions(tree)
        drop_idle_code(tree)
        if count_nodes(tree) <= _INLINED_NODES_MAX:
            inline_functions(tree)
            inline_values(tree)


class _Masked(ast.NodeTransformer):
    """Gives every name and every value one spelling, and drops what Python's reader alone is told."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for field in _NAME_FIELDS:
            if getattr(node, field, None) is not None:
                setattr(node, field, "name")
        match node:
            case ast.FunctionDef():
                node.returns = None
            case ast.arg():
                node.annotation = None
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return ast.Constant(0)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(0) if node.id == POLICY_NAME else ast.Name("name", node.ctx)


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

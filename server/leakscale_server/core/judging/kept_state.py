"""Whether a Python program can keep something from one call to the next.

Two passes, one of them backwards, do not show what is the same from either end, such as the distance of a call from the
middle. A program that keeps nothing shows it: its module binds functions and constants, containers of constants are
only read, no default is made once for all calls, no attribute is set and no function is decorated. Whatever else it has
counts as able to: that costs runs, and nothing else. Global names and classes are `chance.py`'s.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Final

__all__ = ["can_keep_state"]

_READING_FUNCTIONS: Final = frozenset(
    {"all", "any", "dict", "enumerate", "len", "list", "max", "min", "reversed", "sorted", "sum", "tuple", "zip"}
)
_READING_METHODS: Final = frozenset({"count", "get", "index", "items", "keys", "values"})
_SETTINGS: Final = frozenset(
    {"field_size_limit", "getcontext", "register_dialect", "setcontext", "setfirstweekday", "unregister_dialect"}
)
"""Functions of known modules that tell or change what holds for the whole process."""


def can_keep_state(body: list[ast.stmt], nodes: list[ast.AST], parents: Mapping[ast.AST, ast.AST]) -> bool:
    """Return whether a module may keep something from one call of its functions to the next.

    Args:
        body: Statements of the module.
        nodes: All that is in it.
        parents: The node around each.
    """
    containers: set[str] = set()
    for statement in body:
        found = _containers(statement)
        if found is None:
            return True
        containers |= found
    return any(_keeps(node, containers, parents) for node in nodes)


def _containers(statement: ast.stmt) -> set[str] | None:
    """Return the names that a statement of a module binds to containers of constants; None if it may bind others."""
    match statement:
        case ast.Import() | ast.ImportFrom() | ast.FunctionDef() | ast.Expr(value=ast.Constant()):
            return set()
        case ast.Assign(targets=targets, value=value):
            names = {target.id for target in targets if isinstance(target, ast.Name)}
            is_named = all(isinstance(target, ast.Name) for target in targets)
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            names, is_named = {name}, True
        case _:
            return None
    if is_named and _is_constant(value):
        return set()
    return names if is_named and all(map(_is_constant, _elements(value))) else None


def _elements(value: ast.expr) -> Iterator[ast.expr | None]:
    match value:
        case ast.List(elts=elements) | ast.Set(elts=elements):
            yield from elements
        case ast.Dict(keys=keys, values=values):
            yield from keys
            yield from values
        case _:
            yield None


def _is_constant(value: ast.expr | None) -> bool:
    match value:
        case ast.Constant():
            return True
        case ast.UnaryOp(operand=operand):
            return _is_constant(operand)
        case ast.BinOp(left=left, right=right):
            return _is_constant(left) and _is_constant(right)
        case ast.Tuple(elts=elements):
            return all(map(_is_constant, elements))
    return False


def _keeps(node: ast.AST, containers: set[str], parents: Mapping[ast.AST, ast.AST]) -> bool:
    match node:
        case ast.FunctionDef(decorator_list=[_, *_]) | ast.AsyncFunctionDef():
            return True
        case ast.arguments(defaults=defaults, kw_defaults=others):
            return not all(each is None or _is_constant(each) for each in (*defaults, *others))
        case ast.Attribute(attr=name, ctx=context):
            return name in _SETTINGS or not isinstance(context, ast.Load)
        case ast.alias(name=name):
            return name in _SETTINGS
        case ast.Name(id=name, ctx=ast.Load()) if name in containers:
            return not _is_read(node, parents)
    return False


def _is_read(node: ast.Name, parents: Mapping[ast.AST, ast.AST]) -> bool:
    """Return whether a container is looked into and neither changed nor handed on."""
    parent = parents[node]
    match parent:
        case ast.Subscript(value=value, ctx=ast.Load()):
            return value is node
        case ast.For(iter=walked) | ast.comprehension(iter=walked):
            return walked is node
        case ast.Call(func=ast.Name(id=name)):
            return name in _READING_FUNCTIONS
        case ast.Attribute(attr=name):
            call = parents[parent]
            return name in _READING_METHODS and isinstance(call, ast.Call) and call.func is parent
    return isinstance(parent, ast.Compare)

"""Python programs without the names that only carry a value or a few lines to one place."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from leakscale_server.core.checks.python_trees import arguments_of, is_pure, is_small, read_count

__all__ = ["inline_functions", "inline_values"]

_SCOPES: Final = (ast.FunctionDef, ast.Module)
_OWN_SCOPE: Final = (
    *(ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
    *(ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef),
)
_UNMOVABLE: Final = (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal)
_BLOCKS: Final = ("body", "orelse", "finalbody")
_FUNCTIONS_MAX: Final = 64
"""How many functions of a program are taken apart; the others stay as they are."""


def inline_values(tree: ast.Module) -> None:
    """Write a value where it is used, if its name is bound once and read once, or the value is small and pure."""
    scopes = [node for node in ast.walk(tree) if isinstance(node, _SCOPES)]
    for scope in reversed(scopes):
        _Values(scope).write()


class _Values(ast.NodeTransformer):
    """The names of one scope that only carry a value."""

    def __init__(self, scope: ast.FunctionDef | ast.Module) -> None:
        self._scope = scope
        bound = Counter(_bound_names(scope))
        self._reads = Counter(
            node.id for node in ast.walk(scope) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        )
        self._candidates = {
            name: value for name, value in _assigned(scope) if bound[name] == 1 and self._reads[name] >= 1
        }
        self._resolved: dict[str, ast.expr | None] = {}

    def write(self) -> None:
        """Write each value in the place of its name, and take out where the name was bound."""
        if self._candidates:
            for name in self._candidates:
                self._resolve(name)
            self.generic_visit(self._scope)

    def _resolve(self, name: str) -> ast.expr | None:
        if name not in self._resolved:
            # A value that leads back to its own name stays.
            self._resolved[name] = None
            value = self.visit(copy.deepcopy(self._candidates[name]))
            is_carried = self._reads[name] == 1 or (is_small(value) and is_pure(value))
            self._resolved[name] = value if is_carried and not read_count(value, name) else None
        return self._resolved[name]

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self._candidates or not isinstance(node.ctx, ast.Load):
            return node
        value = self._resolve(node.id)
        return node if value is None else copy.deepcopy(value)

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | None:
        match node.targets:
            case [ast.Name(id=name)] if self._resolved.get(name) is not None:
                return None
        self.generic_visit(node)
        return node


def _assigned(scope: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.walk(scope):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value


def _bound_names(scope: ast.AST) -> Iterator[str]:
    for node in ast.walk(scope):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if node is not scope:
                yield name
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                # Bound elsewhere, too.
                yield from names * 2


def inline_functions(tree: ast.Module) -> None:
    """Write the lines of a function where it is called, if that is one place."""
    for number in range(_FUNCTIONS_MAX):
        functions = _movable(tree)
        places = dict(_called_places(tree)) if functions else {}
        if not any(_inline(tree, each, places[each.name], number) for each in functions if each.name in places):
            return


def _movable(tree: ast.Module) -> list[ast.FunctionDef]:
    """Return the functions that are bound once, read once, and made of lines that can stand elsewhere."""
    bound = Counter(_bound_names(tree))
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and node.name != "transform"
        and bound[node.name] == 1
        and read_count(tree, node.name) == 1
        and not read_count(node, node.name)
        and not node.decorator_list
        and not any(isinstance(each, _UNMOVABLE) for each in ast.walk(node))
    ]


class _Place(NamedTuple):
    """A call of a function in what a statement evaluates once, before its own blocks."""

    block: list[ast.stmt]
    statement: ast.stmt
    call: ast.Call


def _called_places(tree: ast.AST) -> Iterator[tuple[str, _Place]]:
    for block in _blocks(tree):
        for statement in block:
            for node in _evaluated(statement):
                match node:
                    case ast.Call(func=ast.Name(id=name)):
                        yield name, _Place(block, statement, node)


def _evaluated(statement: ast.stmt) -> Iterator[ast.AST]:
    if isinstance(statement, (ast.While, *_OWN_SCOPE)):
        return
    waiting = [child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.expr | ast.withitem)]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _OWN_SCOPE):
            waiting += ast.iter_child_nodes(node)  # type: ignore[arg-type]


def _blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for field in _BLOCKS:
            block = getattr(node, field, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block


def _inline(tree: ast.Module, function: ast.FunctionDef, place: _Place, number: int) -> bool:
    lines = _lines(function, place.call, place.statement, number)
    if lines is None:
        return False
    index = next(index for index, each in enumerate(place.block) if each is place.statement)
    place.block[index : index + 1] = lines
    for block in _blocks(tree):
        block[:] = [each for each in block if each is not function]
    return True


def _lines(function: ast.FunctionDef, call: ast.Call, statement: ast.stmt, number: int) -> list[ast.stmt] | None:
    """Return what stands in place of a statement that calls a function: its lines, with the arguments as values."""
    values = arguments_of(function.args, call)
    if values is None:
        return None
    body = _renamed(function, number).body or [ast.Return()]
    arguments: list[ast.stmt] = [
        ast.Assign([ast.Name(_own(name, number), ast.Store())], value) for name, value in values.items()
    ]
    if isinstance(statement, ast.Return) and statement.value is call:
        return [*arguments, *body]
    *lines, last = body
    returns = sum(isinstance(node, ast.Return) for each in body for node in ast.walk(each))
    if returns == 1 and isinstance(last, ast.Return) and last.value is not None:
        _replace(statement, call, last.value)
        return [*arguments, *lines, statement]
    return None


def _own(name: str, number: int) -> str:
    return f"{name}@{number}"


def _renamed(function: ast.FunctionDef, number: int) -> ast.FunctionDef:
    """Return a function whose own names are no other function's."""
    own = set(_bound_names(function))
    renamed = copy.deepcopy(function)
    for node in ast.walk(renamed):
        match node:
            case ast.Name(id=name) if name in own:
                node.id = _own(name, number)
            case ast.arg(arg=name) if name in own:
                node.arg = _own(name, number)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if node is not renamed and name in own:
                node.name = _own(name, number)
            case ast.ExceptHandler(name=str(name)) if name in own:
                node.name = _own(name, number)
    return renamed


def _replace(tree: ast.AST, old: ast.expr, new: ast.expr) -> None:
    for node in ast.walk(tree):
        for field, child in ast.iter_fields(node):
            if child is old:
                setattr(node, field, new)
            elif isinstance(child, list):
                child[:] = [new if each is old else each for each in child]

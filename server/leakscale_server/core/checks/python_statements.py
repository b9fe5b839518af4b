"""Python's statements without what changes nothing: code that is never reached, never read or never needed."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator
from typing import Final

from leakscale_server.core.checks.python_trees import (
    is_pure,
    joined,
    read_count,
    read_names,
    substituted,
    truth_of,
    without_count,
)

__all__ = ["drop_idle_code", "drop_imports"]

_LEAVING: Final = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_BODIES: Final = ("body", "orelse", "finalbody")
_ITSELF_WITH: Final[dict[type[ast.operator], int]] = {ast.Add: 0, ast.Sub: 0, ast.Mult: 1}


def drop_imports(tree: ast.Module) -> None:
    """Take out imports, and write each function of a module by its own name, whichever way it was imported."""
    modules = {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    _Unqualified(modules).visit(tree)


class _Unqualified(ast.NodeTransformer):
    def __init__(self, modules: set[str]) -> None:
        self._modules = modules

    def visit_Import(self, node: ast.Import) -> None:
        return None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        return None

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id in self._modules:
            return ast.Name(node.attr, ast.Load())
        return node


def drop_idle_code(tree: ast.Module) -> None:
    """Take out what is never reached, never read or does nothing, and write what is left of branches plainly."""
    read = read_names(tree)
    for node in ast.walk(tree):
        for field in _BODIES:
            if isinstance(statements := getattr(node, field, None), list):
                setattr(node, field, _chosen(list(_working(statements, read))))
        if isinstance(node, ast.FunctionDef):
            match node.body:
                case [*others, ast.Return(value=None | ast.Constant(value=None))] if others:
                    node.body = others


def _working(statements: Iterable[ast.stmt], read: set[str]) -> Iterator[ast.stmt]:
    for statement in statements:
        if isinstance(statement, ast.For):
            statement.target, statement.iter = without_count(statement.target, statement.iter, read)
        for plain in _plain(statement):
            if not _is_idle(plain, read):
                yield plain
            if isinstance(plain, _LEAVING):
                return


def _plain(statement: ast.stmt) -> list[ast.stmt]:  # noqa: PLR0911 - one line a form
    """Return what a statement is when it is written plainly."""
    match statement:
        case ast.If():
            return _plain_branch(statement)
        case ast.Assign(targets=[target]):
            return _plain_assignment(statement, target)
        case ast.Assign(targets=targets, value=value):
            return [ast.Assign([target], value) for target in targets]
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            return [ast.Assign([target], value)]
        case ast.For(target=ast.Name(id=name), iter=ast.List(elts=[value]) | ast.Tuple(elts=[value])) if _runs_through(
            statement.body
        ):
            if is_pure(value) or read_count(statement, name) <= 1:
                return [substituted(each, {name: value}) for each in statement.body]
        case ast.While(test=test, body=[*_, ast.Return()]) if truth_of(test) and _runs_through(statement.body):
            return statement.body
        case ast.Try(handlers=handlers, orelse=[], finalbody=[]) if all(map(_only_raises, handlers)):
            return statement.body
        case ast.FunctionDef(name=name, body=[ast.Return(value=ast.expr() as value)], decorator_list=[]) if (
            name != "transform"
        ):
            return [ast.Assign([ast.Name(name, ast.Store())], ast.Lambda(statement.args, value))]
    return [statement]


def _plain_branch(branch: ast.If) -> list[ast.stmt]:
    truth = truth_of(branch.test)
    if truth is not None:
        return branch.body if truth else branch.orelse
    match branch.body, branch.orelse:
        case body, orelse if body and list(map(ast.dump, body)) == list(map(ast.dump, orelse)):
            return body
        case [*_, ast.stmt() as last], [_, *_] if isinstance(last, _LEAVING):
            return [ast.If(branch.test, branch.body, []), *branch.orelse]
        case [ast.If(orelse=[]) as inner], []:
            return [ast.If(joined([branch.test, inner.test]), inner.body, [])]
        case [ast.Assign() as one], [ast.Assign() as other] if _dumped(one) == _dumped(other):
            return [ast.Assign(one.targets, ast.IfExp(branch.test, one.value, other.value))]
    return [branch]


def _plain_assignment(statement: ast.Assign, target: ast.expr) -> list[ast.stmt]:
    match target, statement.value:
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if _are_pairs(targets, values):
            return [ast.Assign([each], value) for each, value in zip(targets, values, strict=True)]
        case _, ast.BinOp(left=left, op=operator, right=right) if _is_read(target, left):
            return [ast.AugAssign(target, operator, right)]  # type: ignore[arg-type]
    return [statement]


def _dumped(statement: ast.Assign) -> list[str]:
    return list(map(ast.dump, statement.targets))


def _are_pairs(targets: list[ast.expr], values: list[ast.expr]) -> bool:
    """Return whether several names get a value each."""
    return len(targets) == len(values) and not any(isinstance(each, ast.Starred) for each in (*targets, *values))


def _is_read(target: ast.expr, left: ast.expr) -> bool:
    return ast.dump(target).replace("Store()", "Load()") == ast.dump(left)


def _runs_through(body: list[ast.stmt]) -> bool:
    return not any(isinstance(node, ast.Break | ast.Continue) for statement in body for node in ast.walk(statement))


def _only_raises(handler: ast.ExceptHandler) -> bool:
    match handler.body:
        case [ast.Raise(exc=None)]:
            return True
    return False


def _chosen(statements: list[ast.stmt]) -> list[ast.stmt]:
    """Write a choice between two values to return as one value, and leave out a value that another one replaces."""
    statements = [
        _filled(before, statement) or statement
        for before, statement in zip([None, *statements], statements, strict=False)
    ]
    statements = [
        one for one, following in itertools.zip_longest(statements, statements[1:]) if not _is_replaced(one, following)
    ]
    match statements:
        case [
            *before,
            ast.If(test=test, body=[ast.Return(value=ast.expr() as one)], orelse=[]),
            ast.Return(value=ast.expr() as other),
        ]:
            return [*before, ast.Return(ast.IfExp(test, one, other))]
    return statements


def _filled(before: ast.stmt | None, statement: ast.stmt) -> ast.stmt | None:
    """Return a list that is filled at once, where it is made empty and then gets all that it holds."""
    match before, statement:
        case (
            ast.Assign(targets=[ast.Name(id=one) as target], value=ast.List(elts=[])),
            ast.AugAssign(target=ast.Name(id=other), op=ast.Add(), value=value)
            | ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=other), attr="extend"), args=[value])),
        ) if one == other and not read_count(value, one):
            return ast.Assign([target], value)
    return None


def _is_replaced(statement: ast.stmt, following: ast.stmt | None) -> bool:
    match statement, following:
        case ast.Assign(targets=[ast.Name(id=one)]), ast.Assign(targets=[ast.Name(id=other)], value=value):
            return one == other and not read_count(value, one)
    return False


def _is_idle(statement: ast.stmt, read: set[str]) -> bool:  # noqa: PLR0911 - one line a form
    match statement:
        case ast.Pass() | ast.AnnAssign(value=None) | ast.Import() | ast.ImportFrom():
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
            return True
        case ast.Expr(value=value) | ast.Assert(test=value):
            return is_pure(value)
        case ast.While(test=test, orelse=[]) if truth_of(test) is False:
            return True
        case ast.If(test=test, body=[], orelse=[]):
            return is_pure(test)
        case ast.For(iter=iterated, body=[], orelse=[]):
            return is_pure(iterated)
        case ast.AugAssign(op=operator, value=ast.Constant(value=int(value))):
            if _ITSELF_WITH.get(type(operator)) == value:
                return True
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=other)) if name == other:
            return True
    return _is_unread(statement, read)


def _is_unread(statement: ast.stmt, read: set[str]) -> bool:
    """Return whether a statement does nothing but bind names that are not read anywhere."""
    bound: list[str]
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return name != "transform" and name not in read
        case ast.Assign(targets=targets):
            if not all(isinstance(target, ast.Name) for target in targets):
                return False
            bound = [target.id for target in targets if isinstance(target, ast.Name)]
        case ast.AugAssign(target=ast.Name(id=name)) | ast.AnnAssign(target=ast.Name(id=name)):
            bound = [name]
        case _:
            return False
    return not read.intersection(bound)

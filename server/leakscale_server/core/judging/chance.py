"""Whether a Python program can see chance that two passes may not show: order of sets, hashes, addresses, counts.

Two passes fall on the same side of a coin every other time, so a program that can see one runs in more kinds of lanes
(`scorer/chance_passes.py`). Most cannot, and what shows that is written: no set whose order is looked at, no function
that tells a hash or an address, no module that knows the interpreter. What is not known here counts as able to: that
costs runs, and nothing else.

Does *not* look for what an address does to a text, as in `str(iter([]))`: that is told by the second pass, in which
heaps are moved by an odd distance. Nor for a name that a program hides on purpose, put together at run time.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import Final

from leakscale_server.core.judging.kept_state import can_keep_state

__all__ = ["can_see_chance"]

_KNOWN_MODULES = """
    __future__ base64 binascii bisect calendar cmath collections collections.abc copy csv datetime decimal fractions
    functools heapq io itertools json math numbers operator re statistics string struct textwrap unicodedata zlib
"""
_OTHER_MODULES = """
    abc array ast builtins contextlib copyreg dataclasses enum errno gc graphlib hashlib keyword locale os pprint random
    reprlib signal sys threading time traceback types typing warnings weakref
"""
_KNOWN_FUNCTIONS = """
    abs all any ascii bin bool bytearray bytes chr complex dict divmod enumerate filter float format frozenset hex int
    isinstance issubclass iter len list map max min next oct ord pow print property range repr reversed round set slice
    sorted staticmethod str sum tuple type zip
"""
_CHANGES = """
    add clear difference_update discard intersection_update remove symmetric_difference_update update
"""
_EXCEPTIONS = {
    name for name, each in vars(builtins).items() if isinstance(each, type) and issubclass(each, BaseException)
}

_MODULES: Final = frozenset(_KNOWN_MODULES.split())
"""Modules in which nothing is a set, and nothing tells a hash or an address."""
_FUNCTIONS: Final = frozenset(_KNOWN_FUNCTIONS.split()) | _EXCEPTIONS
"""Names of the interpreter's own that a program may read; sets have rules of their own."""
_HIDDEN: Final = frozenset(_OTHER_MODULES.split()) | {"*", "attrgetter", "methodcaller"}
"""Names that lead elsewhere: modules that a known one may hold, and what takes a name that is put together."""
_MAKERS: Final = frozenset({"set", "frozenset"})
_BLIND: Final = frozenset({"all", "any", "bool", "len"}) | _MAKERS
"""Functions that give the same for each order of their argument."""
_SORTING: Final = frozenset({"max", "min", "sorted"})
"""Functions that do so unless a `key` makes two values alike."""
_HARMLESS: Final = frozenset({"default", "reverse"})
"""Other arguments of those."""
_VIEWS: Final = frozenset({"keys", "items"})
_VIEWERS: Final = _BLIND | _SORTING | {"dict", "enumerate", "iter", "list", "map", "reversed", "sum", "tuple", "zip"}
"""Functions that walk a view of a dictionary, and do not take it for a set."""
_COMBINING: Final = frozenset({"copy", "difference", "intersection", "symmetric_difference", "union"})
_SETTLING: Final = frozenset(_CHANGES.split()) | {"isdisjoint", "issubset", "issuperset"}
"""Methods of a set that give nothing, or the same for each order."""
_WORDLESS: Final = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
_SET_OPERATORS: Final = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.Sub)


def can_see_chance(program: str) -> bool:
    """Return whether a program may hang on a set's order, a hash, an earlier call or what only counts things.

    Args:
        program: Text of a module; one that is none cannot be judged, and so can.
    """
    try:
        return _Reader(ast.parse(program)).finds_chance()
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True


class _Reader:
    """One module, with the way from each expression up to what reads it."""

    def __init__(self, tree: ast.Module) -> None:
        self._body = tree.body
        self._nodes: list[ast.AST] = [tree]
        self._parents: dict[ast.AST, ast.AST] = {}
        for node in self._nodes:
            for child in ast.iter_child_nodes(node):
                if not isinstance(child, _WORDLESS):
                    self._parents[child] = node
                    self._nodes.append(child)
        self._sets = self._names_of_sets()

    def finds_chance(self) -> bool:
        return any(map(self._is_suspect, self._nodes)) or can_keep_state(self._body, self._nodes, self._parents)

    def _is_suspect(self, node: ast.AST) -> bool:
        suspect = False
        match node:
            case ast.Name():
                suspect = self._is_suspect_name(node)
            case ast.Constant(value=str(text)):
                suspect = "__" in text
            case ast.Attribute(attr=name):
                suspect = _is_hidden(name) or (name in _VIEWS and not self._is_walked(node))
            case ast.Set() | ast.SetComp():
                suspect = not self._is_settled(node)
            case ast.arg(arg=str(name)) | ast.FunctionDef(name=str(name)) | ast.AsyncFunctionDef(name=str(name)):
                suspect = self._is_taken(name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                suspect = self._is_taken(name)
            case ast.Import(names=names):
                suspect = any(each.name not in _MODULES or self._is_taken(each.asname or each.name) for each in names)
            case ast.ImportFrom(module=module, names=names):
                suspect = module not in _MODULES or any(
                    _is_hidden(each.name) or self._is_taken(each.asname or each.name) for each in names
                )
            case ast.ClassDef() | ast.Global() | ast.Nonlocal() | ast.MatchMapping(rest=str()):
                suspect = True
        return suspect

    def _is_suspect_name(self, node: ast.Name) -> bool:
        name = node.id
        if not isinstance(node.ctx, ast.Load):
            return hasattr(builtins, name) or (name in self._sets and not self._is_bound_to_set(node))
        if name in self._sets:
            return not self._is_settled(node)
        if name in _MAKERS:
            return not (self._is_called(node) and self._is_settled(self._parents[node]))
        return _is_hidden(name) or (hasattr(builtins, name) and name not in _FUNCTIONS)

    def _is_taken(self, name: str) -> bool:
        """Return whether a name means something else than what a statement binds to it."""
        return name in self._sets or hasattr(builtins, name)

    def _is_bound_to_set(self, node: ast.Name) -> bool:
        match self._parents[node]:
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                return self._is_set(value, self._sets)
            case ast.AugAssign(op=operator):
                return isinstance(operator, _SET_OPERATORS)
        return False

    def _names_of_sets(self) -> set[str]:
        """Return every name that is once bound to a set; the same name elsewhere is taken for one, too."""
        names: set[str] = set()
        before = -1
        while before != (before := len(names)):
            names |= {name for name, value in self._bindings() if self._is_set(value, names)}
        return names

    def _bindings(self) -> Iterator[tuple[str, ast.expr]]:
        for node in self._nodes:
            match node:
                case ast.Assign(targets=targets, value=value):
                    yield from ((target.id, value) for target in targets if isinstance(target, ast.Name))
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    yield name, value

    def _is_set(self, node: ast.expr, names: set[str]) -> bool:
        found = isinstance(node, (ast.Set, ast.SetComp))
        match node:
            case ast.Name(id=name):
                found = name in names
            case ast.Call(func=ast.Name(id=name)):
                found = name in _MAKERS
            case ast.Call(func=ast.Attribute(value=value, attr=name)):
                found = name in _COMBINING and self._is_set(value, names)
            case ast.BinOp(left=left, op=operator, right=right) if isinstance(operator, _SET_OPERATORS):
                found = self._is_set(left, names) or self._is_set(right, names)
        return found

    def _is_settled(self, node: ast.AST) -> bool:
        """Return whether what reads a set gives the same for each order of it."""
        parent = self._parents[node]
        settled = isinstance(parent, (ast.Compare, ast.Expr))
        match parent:
            case ast.Call(func=ast.Name(id=name)) if node in parent.args and name in _SORTING:
                settled = len(parent.args) == 1 and all(keyword.arg in _HARMLESS for keyword in parent.keywords)
            case ast.Call(func=ast.Name(id=name)) if node in parent.args and name in _BLIND:
                settled = name not in _MAKERS or self._is_settled(parent)
            case ast.Call(func=ast.Attribute(value=value) as method) if self._is_set(value, self._sets):
                settled = self._is_settled_by(method)
            case ast.Attribute():
                settled = self._is_settled_by(parent)
            case ast.BinOp(op=operator) if isinstance(operator, _SET_OPERATORS):
                settled = self._is_settled(parent)
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
                settled = node is test
            case ast.UnaryOp(op=operator):
                settled = isinstance(operator, ast.Not)
            case ast.Assign(targets=targets):
                settled = all(isinstance(target, ast.Name) for target in targets)
            case ast.AnnAssign(target=target):
                settled = isinstance(target, ast.Name)
            case ast.AugAssign(target=ast.Name(id=name), op=operator):
                settled = name in self._sets and isinstance(operator, _SET_OPERATORS)
        return settled

    def _is_settled_by(self, method: ast.Attribute) -> bool:
        """Return whether a method of a set is called that settles it, or gives a set that is settled."""
        if not self._is_called(method):
            return False
        return method.attr in _SETTLING or (method.attr in _COMBINING and self._is_settled(self._parents[method]))

    def _is_called(self, node: ast.expr) -> bool:
        parent = self._parents[node]
        return isinstance(parent, ast.Call) and parent.func is node

    def _is_walked(self, node: ast.Attribute) -> bool:
        """Return whether a view of a dictionary is read in the dictionary's own order, and not taken for a set."""
        if not self._is_called(node):
            return False
        call = self._parents[node]
        parent = self._parents[call]
        match parent:
            case ast.Call(func=ast.Name(id=name)):
                return name in _VIEWERS
            case ast.For(iter=walked) | ast.comprehension(iter=walked):
                return walked is call
        return isinstance(parent, (ast.Starred, ast.Compare))


def _is_hidden(name: str) -> bool:
    """Return whether a name leads behind what a module or an object shows."""
    return name.startswith("_") or name in _HIDDEN

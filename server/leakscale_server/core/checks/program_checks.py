"""Rules of a program. None of them runs it: SQL is read by `sql_checks`, Python is parsed.

What a program does is the sandbox's to find out.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from typing import Final

from leakscale.models import Domain
from leakscale_sandbox.preloaded import MODULE_NAMES
from leakscale_server.core.building.rendering import PLACEHOLDER
from leakscale_server.core.checks.sql_checks import check_sql
from leakscale_server.core.checks.written import WrittenProgram, bare_slot, line_at
from leakscale_server.core.format.locations import Path
from leakscale_server.core.format.problems import Phrase, Problem
from leakscale_server.core.format.schema import RESERVED_SLOT, Shape
from leakscale_server.core.format.text import PLAIN_TEXT_RULE, is_plain_text

__all__ = ["check_braces", "check_placeholders", "check_program"]

_QUOTED_POLICY: Final = re.compile(r"""['"`]\{\{policy\}\}['"`]?|\{\{policy\}\}['"`]""")
_MISSPELT: Final = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
"""A placeholder, and what was meant to be one: with spaces or capitals."""
_MODULES: Final = ", ".join(MODULE_NAMES)


def check_program(shape: Shape, program: WrittenProgram) -> Iterator[Problem]:
    """Check one program by itself."""
    yield from _check_masks(program)
    for number, written in enumerate(program.text.split("\n")):
        if not is_plain_text(written.replace("\t", "")):
            yield Problem(program.path, PLAIN_TEXT_RULE, written, number)
    yield from check_placeholders(shape, program.text, program.path)
    if shape.language is Domain.SQL:
        yield from check_braces(program.text, program.path)
        yield from check_sql(shape, program)
    else:
        yield from _check_python(shape, program)


def _check_masks(program: WrittenProgram) -> Iterator[Problem]:
    text, path = program.text, program.path
    masks = [match for match in PLACEHOLDER.finditer(text) if match[1] == RESERVED_SLOT]
    if not program.is_masked:
        for mask in masks[:1]:
            rule = "must be whole: it has the value of its own place in the pool"
            yield Problem(path, rule, mask[0], line_at(text, mask.start()))
        return
    if not masks and not any(match[1].lower() == RESERVED_SLOT for match in _MISSPELT.finditer(text)):
        yield Problem(path, "must hold {{policy}} exactly once", Phrase("none"))
    elif len(masks) > 1:
        line = line_at(text, masks[1].start())
        yield Problem(path, "must hold {{policy}} exactly once", Phrase(f"{len(masks)} of them"), line)
    for quoted in _QUOTED_POLICY.finditer(text):
        rule = "must have no quotes beside {{policy}}, which becomes a literal with its own quotes"
        yield Problem(path, rule, quoted[0], line_at(text, quoted.start()))


def check_placeholders(shape: Shape, text: str, path: Path) -> Iterator[Problem]:
    """Find placeholders of no slot, and slots in what was not read as a placeholder."""
    for match in _MISSPELT.finditer(text):
        line, name = line_at(text, match.start()), match[1].lower()
        is_known = name == RESERVED_SLOT or name in shape.vocabulary
        if PLACEHOLDER.fullmatch(match[0]):
            if not is_known:
                yield Problem(path, "must name a slot of [vocabulary]", match[0], line)
        elif is_known:
            yield Problem(path, f"must write {{{{{name}}}}} in lower case and without spaces", match[0], line)


def check_braces(text: str, path: Path) -> Iterator[Problem]:
    """Find what is left of a misspelt placeholder; a Python program may hold doubled braces of its own."""
    for number, line in enumerate(PLACEHOLDER.sub("", text).split("\n")):
        if "{{" in line or "}}" in line:
            rule = "must write placeholders as {{slot}}, in lower case and without spaces"
            yield Problem(path, rule, line.strip(), number)


def _check_python(shape: Shape, checked: WrittenProgram) -> Iterator[Problem]:
    written, path = checked.text, checked.path
    program = PLACEHOLDER.sub(lambda match: "(0)" if match[1] == RESERVED_SLOT else f"x_{match[1]}", written)
    try:
        tree = ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        rule = f"must be a Python module: {getattr(error, 'msg', 'it cannot be parsed')}"
        number = (getattr(error, "lineno", None) or 1) - 1
        yield Problem(path, rule, (written.split("\n")[number : number + 1] or [""])[0].strip() or None, number)
        return
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "transform"]
    rule = "must define transform(records) once, with one argument"
    if len(functions) != 1:
        line = functions[1].lineno - 1 if functions else 0
        yield Problem(path, rule, Phrase(f"{len(functions)} of that name"), line)
    elif (count := len(functions[0].args.args)) != 1:
        yield Problem(path, rule, Phrase(f"{count} arguments"), functions[0].lineno - 1)
    yield from _check_imports(tree, path)
    yield from _check_slots_as_words(shape, tree, path)


def _check_imports(tree: ast.Module, path: Path) -> Iterator[Problem]:
    """Find modules that the sandbox does not have. A name that is put together at run time is found there."""
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                names = [alias.name for alias in node.names]
            case ast.ImportFrom():
                names = ["." * node.level + (node.module or "")]
            case _:
                continue
        for name in names:
            if name not in MODULE_NAMES:
                rule = f"must not import {name}; the modules of the sandbox are {_MODULES}"
                yield Problem(path, rule, Phrase(name), node.lineno - 1)


def _check_slots_as_words(shape: Shape, tree: ast.Module, path: Path) -> Iterator[Problem]:
    """Find the name of a slot as a key or as a name that nothing binds; a variable may be called as it likes."""
    nodes = list(ast.walk(tree))
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    for node in nodes:
        match node:
            case (
                ast.Subscript(slice=ast.Constant(value=str(key)))
                | ast.Call(func=ast.Attribute(attr="get" | "pop"), args=[ast.Constant(value=str(key)), *_])
            ) if key in shape.vocabulary:
                yield bare_slot(key, key, path, node.lineno - 1)
            case ast.Name(id=name) if name in shape.vocabulary and name not in bound and not hasattr(builtins, name):
                yield bare_slot(name, name, path, node.lineno - 1)

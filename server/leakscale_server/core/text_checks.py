"""Rules of the task and the program.

None of them runs the program: an SQL text is read with its strings and parentheses taken out, a Python text is parsed.
What a program does is the sandbox's to find out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from leakscale.models import Domain
from leakscale_server.core.locations import Path
from leakscale_server.core.problems import Problem, is_plain_text
from leakscale_server.core.rendering import PLACEHOLDER
from leakscale_server.core.schema import RESERVED_SLOT, Shape

__all__ = ["check_texts"]

_PROGRAM: Path = ("rings", "R0", "program")
_TASK: Path = ("rings", "R0", "task")


def check_texts(shape: Shape) -> Iterator[Problem]:
    """Check the task and the program of every ring."""
    yield from _check_task(shape)
    yield from _check_program(shape)
    yield from _check_sql(shape) if shape.language is Domain.SQL else _check_python(shape)


def _check_task(shape: Shape) -> Iterator[Problem]:
    task = shape.rings.R0.task
    if not is_plain_text(task):
        yield Problem(_TASK, "must be one printable line", task)
    if RESERVED_SLOT in PLACEHOLDER.findall(task):
        yield Problem(_TASK, "must leave the masked value open; write 'the policy value'", task)
    elif "policy" not in task:
        yield Problem(_TASK, "must say what the policy value decides", task)
    yield from _check_placeholders(shape, task, _TASK)
    yield from _check_braces(task, _TASK)


def _check_program(shape: Shape) -> Iterator[Problem]:
    program = shape.rings.R0.program
    count = PLACEHOLDER.findall(program).count(RESERVED_SLOT)
    if count != 1:
        yield Problem(_PROGRAM, "must hold {{policy}} exactly once", f"{count} times")
    if re.search(r"""['"`]\{\{policy\}\}|\{\{policy\}\}['"`]""", program):
        yield Problem(_PROGRAM, "the mask becomes a literal with its own quotes; leave yours out", "quoted {{policy}}")
    if not is_plain_text(re.sub(r"[\n\t]", "", program)):
        yield Problem(_PROGRAM, "must be printable text", program)
    yield from _check_placeholders(shape, program, _PROGRAM)


def _check_placeholders(shape: Shape, text: str, path: Path) -> Iterator[Problem]:
    for slot in PLACEHOLDER.findall(text):
        if slot != RESERVED_SLOT and slot not in shape.vocabulary:
            yield Problem(path, "names a slot that [vocabulary] lacks", slot)


def _check_braces(text: str, path: Path) -> Iterator[Problem]:
    """Find a misspelt placeholder; a Python program may hold doubled braces of its own."""
    if "{{" in PLACEHOLDER.sub("", text) or "}}" in PLACEHOLDER.sub("", text):
        yield Problem(path, "must write placeholders as {{slot}}, in lower case and without spaces", text.strip())


def _check_sql(shape: Shape) -> Iterator[Problem]:
    program = shape.rings.R0.program
    yield from _check_braces(program, _PROGRAM)
    bare = _without_text(program)
    if not re.match(r"\s*(select|with)\b", bare, re.IGNORECASE):
        yield Problem(_PROGRAM, "must be one SELECT or WITH statement", program.strip()[:40])
    if ";" in bare:
        yield Problem(_PROGRAM, "must be one statement without a semicolon", ";")
    if shape.result is None:
        return
    if shape.is_ordered and not re.search(r"\border\s+by\b", _outermost(bare), re.IGNORECASE):
        yield Problem(_PROGRAM, "an ordered result needs an outermost ORDER BY", program.strip()[-40:])
    for index, name in enumerate(shape.result.columns):
        if name in shape.result.columns[:index]:
            yield Problem(("result", "columns", index), "must be distinct", name)
        shown = rf"\{{\{{{name}\}}\}}" if name in shape.vocabulary else rf"{name}\b"
        if not re.search(rf"\bas\s+{shown}", bare, re.IGNORECASE):
            yield Problem(("result", "columns", index), "must appear in the program after AS", name)


def _without_text(program: str) -> str:
    """Take out quoted strings and comments."""
    return re.sub(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/", " ", program, flags=re.DOTALL)


def _outermost(bare: str) -> str:
    """Keep what stands outside all parentheses."""
    depth, kept = 0, []
    for letter in bare:
        depth += (letter == "(") - (letter == ")")
        kept.append(letter if depth == 0 else " ")
    return "".join(kept)


def _check_python(shape: Shape) -> Iterator[Problem]:
    program = PLACEHOLDER.sub(lambda match: "(0)" if match[1] == RESERVED_SLOT else match[1], shape.rings.R0.program)
    try:
        tree = ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        rule = f"must be a Python module: {getattr(error, 'msg', 'it cannot be parsed')}"
        yield Problem(_PROGRAM, rule, _where(error))
        return
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "transform"]
    if len(functions) != 1 or len(functions[0].args.args) != 1:
        yield Problem(_PROGRAM, "must define transform(records) once, with one argument", f"{len(functions)} functions")


def _where(error: Exception) -> str:
    return f"line {error.lineno} of the program" if isinstance(error, SyntaxError) else type(error).__name__

"""Rules of the task and the program.

None of them runs the program: an SQL text is read with its strings and parentheses taken out, a Python text is parsed.
What a program does is the sandbox's to find out.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from leakscale.models import Domain, Ring
from leakscale_server.core.candidates import CANDIDATE_COUNT, JsonCandidates
from leakscale_server.core.keywords import is_reserved
from leakscale_server.core.locations import Path
from leakscale_server.core.problems import Phrase, Problem
from leakscale_server.core.rendering import PLACEHOLDER
from leakscale_server.core.schema import RESERVED_SLOT, Shape
from leakscale_server.core.text import PLAIN_TEXT_RULE, is_plain_text

__all__ = ["check_texts"]

_WRITTEN_RINGS: Final = (Ring.R0, Ring.R1)

_QUOTED_POLICY = re.compile(r"""['"`]\{\{policy\}\}['"`]?|\{\{policy\}\}['"`]""")
_MISSPELT = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
"""A placeholder, and what was meant to be one: with spaces or capitals."""
_SQL_TEXT = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)
"""A string, a quoted name or a comment."""
_SQL_WORD = re.compile(r"(?<![\w{$@:])([A-Za-z_]\w*)(?![\w}]|\s*\()")
"""A name that stands by itself and is no function."""


@dataclass(frozen=True, slots=True)
class _Program:
    """One program as its author wrote it, and where it stands."""

    text: str
    path: Path
    is_masked: bool
    """Whether a candidate's literal goes into it; a whole program has its value already."""


def check_texts(shape: Shape) -> Iterator[Problem]:
    """Check the title, and the task and the programs of every ring that is written."""
    if not is_plain_text(shape.title):
        yield Problem(("title",), PLAIN_TEXT_RULE, shape.title)
    for ring in _WRITTEN_RINGS:
        yield from _check_task(shape, shape.rings.text(ring).task, ("rings", ring.value, "task"))
        yield from _check_choice(shape, ring)
        for program in _programs(shape, ring):
            yield from _check_program(shape, program)
            yield from _check_sql(shape, program) if shape.language is Domain.SQL else _check_python(shape, program)
    yield from _check_rewording(shape)
    yield from _check_result(shape)


def _programs(shape: Shape, ring: Ring) -> Iterator[_Program]:
    text = shape.rings.text(ring)
    if text.program is not None:
        yield _Program(text.program, ("rings", ring.value, "program"), is_masked=True)
    for index, program in enumerate(text.programs or ()):
        yield _Program(program, ("rings", ring.value, "programs", index), is_masked=False)


def _check_choice(shape: Shape, ring: Ring) -> Iterator[Problem]:
    """Check that a ring has one masked program, or a whole one for each value."""
    text, path = shape.rings.text(ring), ("rings", ring.value)
    if (text.program is None) == (text.programs is None):
        found = Phrase("neither" if text.program is None else "both")
        yield Problem(path, "must have either program or programs", found)
    elif text.programs is not None:
        pool = shape.candidates.pool
        if pool is None or len(pool) != CANDIDATE_COUNT:
            rule = f"must belong to a pool of exactly {CANDIDATE_COUNT} values"
            yield Problem((*path, "programs"), rule, Phrase("a range" if pool is None else f"{len(pool)} values"))
        elif not isinstance(shape.candidates, JsonCandidates) and shape.candidates.ranked != pool:
            yield Problem(("candidates", "pool"), "must be in ascending order beside whole programs", list(pool))
        for index, program in enumerate(text.programs):
            if program in text.programs[:index]:
                yield Problem((*path, "programs", index), "must differ from the programs before it", Phrase("the same"))


def _check_rewording(shape: Shape) -> Iterator[Problem]:
    """Find what R1 has from R0 unchanged, spaces aside."""
    exact, reworded = (shape.rings.text(ring) for ring in _WRITTEN_RINGS)
    path: Path = ("rings", "R1")
    if exact.task.split() == reworded.task.split():
        yield Problem((*path, "task"), "must say the task of R0 in other words", reworded.task)
    pairs = zip(exact.templates, reworded.templates, strict=False)
    if any(one.split() == other.split() for one, other in pairs):
        field = "program" if reworded.program is not None else "programs"
        yield Problem((*path, field), "must be another program than R0's that returns the same", Phrase("R0's"))


def _check_result(shape: Shape) -> Iterator[Problem]:
    """Check the names of an SQL result's columns against the programs that return them."""
    if shape.result is None or shape.language is not Domain.SQL:
        return
    bare = [_SQL_TEXT.sub(_blank, each.text) for ring in _WRITTEN_RINGS for each in _programs(shape, ring)]
    for index, name in enumerate(shape.result.columns):
        path: Path = ("result", "columns", index)
        if name in shape.result.columns[:index]:
            yield Problem(path, "must differ from the columns before it", name)
        shown = rf"\{{\{{{name}\}}\}}" if name in shape.vocabulary else rf"{name}\b"
        if not all(re.search(rf"\bas\s+{shown}", each, re.IGNORECASE) for each in bare):
            yield Problem(path, "must appear in every program after AS", name)


def _check_task(shape: Shape, task: str, path: Path) -> Iterator[Problem]:
    if "\n" in task:
        yield Problem(path, "must be one line", Phrase("several"))
    elif not is_plain_text(task):
        yield Problem(path, PLAIN_TEXT_RULE, task)
    if RESERVED_SLOT in PLACEHOLDER.findall(task):
        yield Problem(path, "must leave the masked value open; write 'the policy value'", "{{policy}}")
    elif "policy" not in task:
        yield Problem(path, "must say what the policy value decides", task)
    yield from _check_placeholders(shape, task, path)
    yield from _check_braces(task, path)


def _check_program(shape: Shape, program: _Program) -> Iterator[Problem]:
    yield from _check_masks(program)
    for number, written in enumerate(program.text.split("\n")):
        if not is_plain_text(written.replace("\t", "")):
            yield Problem(program.path, PLAIN_TEXT_RULE, written, number)
    yield from _check_placeholders(shape, program.text, program.path)


def _check_masks(program: _Program) -> Iterator[Problem]:
    text, path = program.text, program.path
    masks = [match for match in PLACEHOLDER.finditer(text) if match[1] == RESERVED_SLOT]
    if not program.is_masked:
        for mask in masks[:1]:
            rule = "must be whole: it has the value of its own place in the pool"
            yield Problem(path, rule, mask[0], _line_at(text, mask.start()))
        return
    if not masks and not any(match[1].lower() == RESERVED_SLOT for match in _MISSPELT.finditer(text)):
        yield Problem(path, "must hold {{policy}} exactly once", Phrase("none"))
    elif len(masks) > 1:
        line = _line_at(text, masks[1].start())
        yield Problem(path, "must hold {{policy}} exactly once", Phrase(f"{len(masks)} of them"), line)
    for quoted in _QUOTED_POLICY.finditer(text):
        rule = "must have no quotes beside {{policy}}, which becomes a literal with its own quotes"
        yield Problem(path, rule, quoted[0], _line_at(text, quoted.start()))


def _check_placeholders(shape: Shape, text: str, path: Path) -> Iterator[Problem]:
    """Find placeholders of no slot, and slots in what was not read as a placeholder."""
    for match in _MISSPELT.finditer(text):
        line, name = _line_at(text, match.start()), match[1].lower()
        is_known = name == RESERVED_SLOT or name in shape.vocabulary
        if PLACEHOLDER.fullmatch(match[0]):
            if not is_known:
                yield Problem(path, "must name a slot of [vocabulary]", match[0], line)
        elif is_known:
            yield Problem(path, f"must write {{{{{name}}}}} in lower case and without spaces", match[0], line)


def _check_braces(text: str, path: Path) -> Iterator[Problem]:
    """Find what is left of a misspelt placeholder; a Python program may hold doubled braces of its own."""
    for number, line in enumerate(PLACEHOLDER.sub("", text).split("\n")):
        if "{{" in line or "}}" in line:
            rule = "must write placeholders as {{slot}}, in lower case and without spaces"
            yield Problem(path, rule, line.strip(), number)


def _check_sql(shape: Shape, program: _Program) -> Iterator[Problem]:
    text, path = program.text, program.path
    yield from _check_braces(text, path)
    bare = _SQL_TEXT.sub(_blank, text)
    yield from _check_bare_slots(shape, bare, path)
    if not re.match(r"\s*(select|with)\b", bare, re.IGNORECASE):
        first = len(bare) - len(bare.lstrip())
        opening = text[first:].split("\n", 1)[0]
        yield Problem(path, "must be one SELECT or WITH statement", opening, _line_at(text, first))
    if ";" in bare:
        yield Problem(path, "must be one statement without a semicolon", ";", _line_at(text, bare.index(";")))
    if shape.result and shape.is_ordered and not re.search(r"\border\s+by\b", _outermost(bare), re.IGNORECASE):
        last = len(bare.rstrip())
        yield Problem(path, "must have an outermost ORDER BY for an ordered result", None, _line_at(text, last))


def _check_bare_slots(shape: Shape, bare: str, path: Path) -> Iterator[Problem]:
    """Find the name of a slot where its placeholder is meant: right only in families whose word is the same."""
    for match in _SQL_WORD.finditer(bare):
        name = match[1].lower()
        if name in shape.vocabulary and not is_reserved(name):
            yield _bare_slot(name, match[1], path, _line_at(bare, match.start()))


def _bare_slot(slot: str, written: str, path: Path, line: int) -> Problem:
    rule = f"must write the slot {slot} as {{{{{slot}}}}}; a name of your own needs another word"
    return Problem(path, rule, written, line)


def _blank(match: re.Match[str]) -> str:
    """Put spaces in place of a text, so that what stands behind it keeps its line; leave a quoted name's word."""
    if re.fullmatch(r'"\w+"', match[0]):
        return f" {match[0][1:-1]} "
    return re.sub(r"[^\n]", " ", match[0])


def _outermost(bare: str) -> str:
    """Keep what stands outside all parentheses."""
    depth, kept = 0, []
    for letter in bare:
        depth += (letter == "(") - (letter == ")")
        kept.append(letter if depth == 0 else " ")
    return "".join(kept)


def _check_python(shape: Shape, checked: _Program) -> Iterator[Problem]:
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
    yield from _check_slots_as_words(shape, tree, path)


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
                yield _bare_slot(key, key, path, node.lineno - 1)
            case ast.Name(id=name) if name in shape.vocabulary and name not in bound and not hasattr(builtins, name):
                yield _bare_slot(name, name, path, node.lineno - 1)


def _line_at(text: str, place: int) -> int:
    return text.count("\n", 0, place)

"""Rules of the texts that an author writes: title, tasks, programs, and what they must have in common."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from leakscale.models import Domain, Ring
from leakscale_server.core.building.rendering import PLACEHOLDER
from leakscale_server.core.checks.letter_checks import (
    check_plain,
    check_script,
    check_scripts_of_words,
    check_sentence,
)
from leakscale_server.core.checks.program_checks import check_braces, check_placeholders, check_program
from leakscale_server.core.checks.sql_checks import sql_names
from leakscale_server.core.checks.written import WrittenProgram
from leakscale_server.core.format.candidates import CANDIDATE_COUNT, JsonCandidates
from leakscale_server.core.format.locations import Path
from leakscale_server.core.format.problems import Phrase, Problem
from leakscale_server.core.format.schema import RESERVED_SLOT, Shape

__all__ = ["check_texts", "names_written"]

_WRITTEN_RINGS: Final = (Ring.R0, Ring.R1)
_POLICY: Final = re.compile(r"\bpolicy\s+value", re.IGNORECASE)


def check_texts(shape: Shape) -> Iterator[Problem]:
    """Check the title, and the task and the programs of every ring that is written."""
    yield from check_plain(shape.title, ("title",))
    yield from check_script([shape.title], [("title",)])
    for ring in _WRITTEN_RINGS:
        yield from _check_task(shape, shape.rings.text(ring).task, ("rings", ring.value, "task"))
        yield from _check_choice(shape, ring)
        for program in _programs(shape, ring):
            yield from check_program(shape, program)
            yield from check_scripts_of_words(program.text, program.path)
    yield from _check_rewording(shape)
    yield from _check_result(shape)


def _programs(shape: Shape, ring: Ring) -> Iterator[WrittenProgram]:
    text = shape.rings.text(ring)
    if text.program is not None:
        yield WrittenProgram(text.program, ("rings", ring.value, "program"), is_masked=True)
    for index, program in enumerate(text.programs or ()):
        yield WrittenProgram(program, ("rings", ring.value, "programs", index), is_masked=False)


def names_written(shape: Shape) -> set[str]:
    """Return the names that SQL programs write themselves, such as aliases, in small letters.

    Python's own names are no names of fields, so its programs give none.
    """
    if shape.language is not Domain.SQL:
        return set()
    return {name for ring in _WRITTEN_RINGS for program in _programs(shape, ring) for name in sql_names(program.text)}


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
    """Check that the columns of an SQL result are told apart; that programs return them is checked with each."""
    columns = shape.result.columns if shape.result else ()
    for index, name in enumerate(columns):
        if name in columns[:index]:
            yield Problem(("result", "columns", index), "must differ from the columns before it", name)


def _check_task(shape: Shape, task: str, path: Path) -> Iterator[Problem]:
    if "\n" in task:
        yield Problem(path, "must be one line", Phrase("several"))
    else:
        yield from check_plain(task, path)
    yield from check_script([task], [path])
    yield from check_sentence(task, path)
    if RESERVED_SLOT in PLACEHOLDER.findall(task):
        yield Problem(path, "must leave the masked value open; write 'the policy value'", "{{policy}}")
    elif not _POLICY.search(task):
        yield Problem(path, "must say what 'the policy value' decides, in these words", task)
    yield from check_placeholders(shape, task, path)
    yield from check_braces(task, path)

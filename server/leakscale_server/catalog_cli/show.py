"""`leakscale-server catalog show`: what a model reads of a shape, and what stays hidden behind it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final

import typer

from leakscale.models import Condition, Domain, Ring
from leakscale.prompts import choice_prompt
from leakscale_sandbox.canonical_reader import Rows, canonical_text, decode_value
from leakscale_server.catalog_audit.material import practice_recipe
from leakscale_server.catalog_check.check import read_author_file
from leakscale_server.catalog_check.excerpts import excerpt
from leakscale_server.catalog_cli.ending import JsonOption, ending_in_one_line, note, say_json, say_lines
from leakscale_server.catalog_cli.files import find_shape
from leakscale_server.core.building.construction import Construction, FamilySlot
from leakscale_server.core.judging.endings import name_ending
from leakscale_server.sandbox_cli.pool import BackendOption, CacheDirOption, RuntimeOption, open_pool
from leakscale_server.sandbox_pool import BackendUnavailable, Execution, Job, SandboxPool, Verdict
from leakscale_server.scorer.prover import PROOF_LIMITS

__all__ = ["show"]

_ROWS_MAX: Final = 12
_CELL_WIDTH: Final = 24
_RECORD_WIDTH: Final = 100


def show(
    shape: Annotated[str, typer.Argument(metavar="SHAPE", help="Id of a shape that ships, or a shape file.")],
    *,
    seed: Annotated[int, typer.Option(help="Root of the practice seeds: another family of the shape.")] = 0,
    without_sandbox: Annotated[bool, typer.Option("--without-sandbox", help="Leave out the expected output.")] = False,
    backend: BackendOption = "auto",
    docker_runtime: RuntimeOption = "",
    cache_dir: CacheDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a practice family: its prompt in each ring, the right artifacts, a hidden fixture and what it must give."""
    with ending_in_one_line(as_json=as_json):
        file = read_author_file(find_shape(shape))
        slot = FamilySlot(file.shape.id, Condition.C0, 0)
        family = practice_recipe([file], families_per_cell=4, seed=seed).build(slot)
        expected = None
        if not without_sandbox:
            try:
                with open_pool(backend, runtime=docker_runtime, cache_dir=cache_dir, lane_count=1) as pool:
                    expected = _run_right(family, pool)
            except BackendUnavailable as error:
                note(f"the expected output is left out: {error}")
        if as_json:
            say_json(_to_json(family, expected))
        else:
            say_lines(_lines(family, file.shape.title, expected))


def _run_right(family: Construction, pool: SandboxPool) -> Execution:
    """Run the right artifact of R0 on the first fixture; what it returns is what every other one is held against."""
    form = family.form(Ring.R0)
    programs = (form.programs[family.truth],)
    job = Job(form.public.domain.value, programs, form.fixtures[:1], ordered=family.ordered, limits=PROOF_LIMITS)
    ((execution,),) = pool.run(job)
    return execution


def _to_json(family: Construction, expected: Execution | None) -> dict[str, Any]:
    exact = family.form(Ring.R0)
    returned = expected is not None and expected.verdict is Verdict.RETURNED
    return {
        "shape": family.slot.shape_id,
        "family": family.family_id,
        "prompts": {
            form.public.ring.value: [
                {"role": message.role, "content": message.content} for message in choice_prompt(form.public)
            ]
            for form in family.forms
        },
        "answers": [candidate.answer for candidate in exact.public.candidates],
        "right": exact.public.candidates[family.truth].answer,
        "artifacts": {form.public.ring.value: form.programs[family.truth] for form in family.forms},
        "fixture": json.loads(exact.contents[0]),
        "expected": json.loads(canonical_text(expected.output)) if expected and returned else None,
        "ended": "" if expected is None or returned else name_ending(expected),
    }


def _lines(family: Construction, title: str, expected: Execution | None) -> Iterator[str]:
    exact = family.form(Ring.R0)
    yield f"{family.slot.shape_id}: {title}"
    yield f"practice family {family.family_id}; the system prompt is {choice_prompt(exact.public)[0].content!r}"
    for form in family.forms:
        yield from ("", f"── prompt in {form.public.ring}", choice_prompt(form.public)[-1].content)
    right = exact.public.candidates[family.truth]
    stands = (
        f", which stands for {family.literals[family.truth]}" if right.text != family.literals[family.truth] else ""
    )
    yield from ("", f"── artifact in R0 of {right.text}{stands}: the right one", exact.programs[family.truth].strip())
    yield from ("", "── artifact in R1 of the same", family.form(Ring.R1).programs[family.truth].strip())
    yield from ("", f"── fixture 0 of {len(exact.fixtures)}: hidden, the same in R0 and R1")
    content = json.loads(exact.contents[0])
    yield from _tables(content) if exact.public.domain is Domain.SQL else _values(content)
    if expected is not None:
        order = "" if family.ordered else ", its rows in any order"
        yield from ("", f"── expected output on fixture 0: what both artifacts must return{order}")
        yield from _output(expected)


def _output(execution: Execution) -> Iterator[str]:
    if execution.verdict is not Verdict.RETURNED:
        yield f"none: the artifact ended with {name_ending(execution)}"
        return
    value = decode_value(execution.output)
    text = canonical_text(execution.output)
    if isinstance(value, Rows):
        yield from _table("result", value.column_names, value.rows)
    elif isinstance(value, list) and len(text) > _RECORD_WIDTH:
        yield from _values(value)
    else:
        yield f"  {excerpt(text, width=_RECORD_WIDTH)}"


def _tables(tables: Sequence[Any]) -> Iterator[str]:
    for name, columns, rows in tables:
        yield from _table(name, columns, rows)


def _table(name: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    yield f"{name}({', '.join(columns)}), {len(rows)} rows"
    cells = [[excerpt(_written(cell), width=_CELL_WIDTH) for cell in row] for row in rows[:_ROWS_MAX]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    yield from _more(rows)


def _values(values: Sequence[object]) -> Iterator[str]:
    """Write records, or the items of a long list, in a line each."""
    for value in values[:_ROWS_MAX]:
        yield "  " + excerpt(json.dumps(value, ensure_ascii=False), width=_RECORD_WIDTH)
    yield from _more(values)


def _more(rows: Sequence[Any]) -> Iterator[str]:
    if len(rows) > _ROWS_MAX:
        yield f"  … and {len(rows) - _ROWS_MAX} more"


def _written(cell: object) -> str:
    return "NULL" if cell is None else str(cell)

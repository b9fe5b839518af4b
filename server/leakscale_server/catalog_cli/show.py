"""`leakscale-server catalog show`: what a model reads of a shape, and what stays hidden behind it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final

import typer

from leakscale.models import Condition, Domain, Ring
from leakscale.prompts import choice_prompt
from leakscale_server.catalog_audit.material import practice_recipe
from leakscale_server.catalog_check.check import read_author_file
from leakscale_server.catalog_check.excerpts import excerpt
from leakscale_server.catalog_cli.ending import JsonOption, ending_in_one_line, say_json, say_lines
from leakscale_server.catalog_cli.files import find_shape
from leakscale_server.core.building.construction import Construction, FamilySlot

__all__ = ["show"]

_ROWS_MAX: Final = 12
_CELL_WIDTH: Final = 24
_RECORD_WIDTH: Final = 100


def show(
    shape: Annotated[str, typer.Argument(metavar="SHAPE", help="Id of a shape that ships, or a shape file.")],
    *,
    seed: Annotated[int, typer.Option(help="Root of the practice seeds: another family of the shape.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Show a practice family: its prompt in each ring, the right artifact, and one hidden fixture."""
    with ending_in_one_line(as_json=as_json):
        file = read_author_file(find_shape(shape))
        slot = FamilySlot(file.shape.id, Condition.C0, 0)
        family = practice_recipe([file], families_per_cell=4, seed=seed).build(slot)
        if as_json:
            say_json(_to_json(family))
        else:
            say_lines(_lines(family, file.shape.title))


def _to_json(family: Construction) -> dict[str, Any]:
    exact = family.form(Ring.R0)
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
    }


def _lines(family: Construction, title: str) -> Iterator[str]:
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
    yield from ("", f"── fixture 0 of {len(exact.fixtures)}: hidden, the same in R0 and R1")
    content = json.loads(exact.contents[0])
    yield from _tables(content) if exact.public.domain is Domain.SQL else _records(content)


def _tables(tables: Sequence[Any]) -> Iterator[str]:
    for name, columns, rows in tables:
        yield f"{name}({', '.join(columns)}), {len(rows)} rows"
        cells = [[excerpt(_written(cell), width=_CELL_WIDTH) for cell in row] for row in rows[:_ROWS_MAX]]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        for row in cells:
            yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        yield from _more(rows)


def _records(records: Sequence[Any]) -> Iterator[str]:
    for record in records[:_ROWS_MAX]:
        yield "  " + excerpt(json.dumps(record, ensure_ascii=False), width=_RECORD_WIDTH)
    yield from _more(records)


def _more(rows: Sequence[Any]) -> Iterator[str]:
    if len(rows) > _ROWS_MAX:
        yield f"  … and {len(rows) - _ROWS_MAX} more"


def _written(cell: object) -> str:
    return "NULL" if cell is None else str(cell)

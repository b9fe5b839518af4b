"""What a check finds, and the walks over a shape that several checks share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from leakscale_server.core.format.columns import Column, inner_columns
from leakscale_server.core.format.grids import DateGrid, DecimalGrid, IntegerGrid
from leakscale_server.core.format.locations import Path
from leakscale_server.core.format.schema import Shape

__all__ = ["Phrase", "Problem", "all_columns", "all_names", "check_grid"]

GRID_COUNT_MAX = 10**9
"""A draw takes one 32-bit word."""


class Phrase(str):
    """What stands in a file, in words of ours: a message shows it without quotes."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """One broken rule."""

    path: Path
    rule: str
    value: object
    """What stands there; None if nothing does."""
    text_line: int = 0
    """0-based line within the text at `path`, where that has several."""


def all_columns(shape: Shape) -> Iterator[tuple[Path, Column]]:
    """Yield every column or field with its path, and behind each one those that it is made of."""
    for index, table in enumerate(shape.tables):
        for place, column in enumerate(table.columns):
            yield from _with_inner(("tables", index, "columns", place), column)
    for place, field in enumerate(shape.records.fields if shape.records else ()):
        yield from _with_inner(("records", "fields", place), field)


def _with_inner(path: Path, column: Column) -> Iterator[tuple[Path, Column]]:
    yield path, column
    for part, inner in inner_columns(column):
        yield from _with_inner((*path, *part), inner)


def all_names(shape: Shape) -> Iterator[tuple[Path, str]]:
    """Yield every name of a table, column or field with its path."""
    for index, table in enumerate(shape.tables):
        yield ("tables", index, "name"), table.name
    for path, column in all_columns(shape):
        if column.name:
            yield (*path, "name"), column.name


def check_grid(grid: object, path: Path) -> Iterator[Problem]:
    """Check that a range runs forward and can be drawn from; anything else than a range passes."""
    if not isinstance(grid, IntegerGrid | DecimalGrid | DateGrid):
        return
    if grid.high < grid.low:  # type: ignore[operator]
        yield Problem((*path, "high"), f"must be at least low, {grid.low}", grid.high)
    elif grid.count > GRID_COUNT_MAX:
        yield Problem((*path, "step"), f"must leave at most {GRID_COUNT_MAX} values between low and high", grid.count)

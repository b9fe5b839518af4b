"""What a check finds, and the walks over a shape that several checks share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from leakscale_server.core.columns import Column
from leakscale_server.core.grids import DateGrid, DecimalGrid, IntegerGrid
from leakscale_server.core.locations import Path
from leakscale_server.core.schema import Shape

__all__ = ["Problem", "all_columns", "all_names", "check_grid", "is_plain_text"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One broken rule."""

    path: Path
    rule: str
    value: object
    """What stands there; None if nothing does."""


def all_columns(shape: Shape) -> Iterator[tuple[Path, Column]]:
    """Yield every column or field with its path."""
    for index, table in enumerate(shape.tables):
        for place, column in enumerate(table.columns):
            yield ("tables", index, "columns", place), column
    for place, field in enumerate(shape.records.fields if shape.records else ()):
        yield ("records", "fields", place), field


def all_names(shape: Shape) -> Iterator[tuple[Path, str]]:
    """Yield every name of a table, column or field with its path."""
    for index, table in enumerate(shape.tables):
        yield ("tables", index, "name"), table.name
    for path, column in all_columns(shape):
        yield (*path, "name"), column.name


def check_grid(grid: object, path: Path) -> Iterator[Problem]:
    """Check that a range does not run backwards; anything else than a range passes."""
    if isinstance(grid, IntegerGrid | DecimalGrid | DateGrid) and grid.high < grid.low:  # type: ignore[operator]
        yield Problem((*path, "high"), f"must be at least low, {grid.low}", grid.high)


def is_plain_text(text: str) -> bool:
    """Return whether a text is printable and on one line, so that it cannot forge a line of a prompt."""
    return text.isprintable()

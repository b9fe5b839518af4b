"""Tables of a laboratory, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Table", "coverage_text", "points", "share"]


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table of words; the first column is read as the name of its row."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    """What a reader must know to read the table, or what it shows."""

    def to_markdown(self) -> str:
        """Return the table as Markdown, padded so that it can be read as it stands."""
        widths = [max(map(len, column)) for column in zip(self.columns, *self.rows, strict=True)]
        lines = [self._line(self.columns, widths), "|" + "|".join("-" * (width + 2) for width in widths) + "|"]
        lines += [self._line(row, widths) for row in self.rows]
        parts = [f"### {self.title}", *([self.note] if self.note else []), "\n".join(lines)]
        return "\n\n".join(parts) + "\n"

    @staticmethod
    def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
        first, *rest = zip(cells, widths, strict=True)
        words = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]
        return "| " + " | ".join(words) + " |"


def share(value: float) -> str:
    """Write a probability with four digits after the point, as the papers do."""
    return f"{value:.4f}"


def points(value: float) -> str:
    """Write a half-width or an effect as a share with three digits after the point."""
    return f"{value:.3f}"


def coverage_text(covered: int, replicates: int) -> str:
    """Write a simulated coverage; its standard error near .95 is `.22 / sqrt(replicates)`."""
    return f"{covered / replicates:.4f}"

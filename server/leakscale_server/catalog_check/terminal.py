"""A check in a terminal of 80 columns: what holds in a line each, and a table of what does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from rich.text import Text

from leakscale_server.catalog_audit.findings import Finding
from leakscale_server.catalog_check.check import FamilyCheck
from leakscale_server.catalog_check.excerpts import excerpt
from leakscale_server.catalog_check.report import CheckReport, ShapeCheck
from leakscale_server.catalog_check.tables import Mark, RingTable, Row

__all__ = ["finding_lines", "report_lines"]

_SIGNS: Final = {
    Mark.PASS: ("✓", "green"),
    Mark.FAIL: ("✗", "red"),
    Mark.ENDED: ("!", "magenta"),
    Mark.NOT_HELD: ("?", "yellow"),
    Mark.NOT_RUN: ("·", "dim"),
}
_LITERAL_WIDTH: Final = 16
_NAME_WIDTH: Final = 14


def report_lines(report: CheckReport) -> Iterator[Text]:
    """Yield the lines of a whole check."""
    for broken in report.broken:
        yield Text.assemble(("✗ ", "red"), broken.message)
    yield from finding_lines(report.findings)
    for shape in report.shapes:
        yield from _shape_lines(shape, is_kept=report.is_kept(shape), is_alone=len(report.shapes) == 1)
    yield Text("every rule is kept" if report.holds else "a rule is broken", "green" if report.holds else "red")


def finding_lines(findings: Sequence[Finding]) -> Iterator[Text]:
    """Yield one line an invariant, and another one for each thing that breaks it."""
    for finding in findings:
        sign = ("✓ ", "green") if finding.holds else ("✗ ", "red")
        yield Text.assemble(sign, (finding.invariant.ljust(_NAME_WIDTH), "bold"), finding.checked)
        for fault in finding.faults:
            yield Text.assemble("  ", (fault, "red"))


def _shape_lines(shape: ShapeCheck, *, is_kept: bool, is_alone: bool) -> Iterator[Text]:
    sign = ("✓ ", "green") if is_kept else ("✗ ", "red")
    said = f"{shape.file.shape.id}: {shape.certified_count} of {len(shape.families)} families certified"
    but = "" if is_kept or shape.first_rejected else ", and yet it cannot stay: see structures above"
    yield Text.assemble(sign, (said, "bold"), but)
    shown = shape.shown(is_alone=is_alone)
    if shown is not None:
        yield Text()
        yield from _family_lines(shown)


def _family_lines(check: FamilyCheck) -> Iterator[Text]:
    built = check.proof.construction
    yield Text(
        f"  {built.family_id}, number {built.slot.ordinal} of condition {built.slot.condition}; "
        f"right is {built.literals[built.truth]}"
    )
    for reason in check.reasons:
        yield Text(f"  {reason}", "red")
    for _, group in groupby(check.tables, key=lambda table: table.marks):
        tables = list(group)
        yield from _table_lines(tables[0], " = ".join(table.ring.value for table in tables))
    yield Text()
    yield from _why_lines(check.tables[0])


def _table_lines(table: RingTable, title: str) -> Iterator[Text]:
    count = len(table.rows[0].cells)
    numbers = "".join(str(index).rjust(3) for index in range(count))
    yield Text(f"  {title.ljust(_LITERAL_WIDTH + 2)}{numbers}   right on", "dim")
    for row in table.rows:
        yield _row_line(row, count)


def _row_line(row: Row, count: int) -> Text:
    style = "bold" if row.is_right else ""
    mark = "▸" if row.is_right else " "
    line = Text(f"{mark} {row.position} {excerpt(row.literal, width=_LITERAL_WIDTH - 2).ljust(_LITERAL_WIDTH)}", style)
    for cell in row.cells:
        sign, color = _SIGNS[cell.mark]
        line.append(f"  {sign}", color)
    return line.append(f"   {row.passed_count} of {count}", style)


def _why_lines(table: RingTable) -> Iterator[Text]:
    """Say for each candidate why it is not right on the first fixture on which it is not."""
    for row in table.rows:
        for index, cell in enumerate(row.cells):
            if cell.mark is not Mark.PASS:
                yield Text(f"  candidate {excerpt(row.literal, width=_LITERAL_WIDTH)} on fixture {index}", "dim")
                if cell.expected:
                    yield Text(f"    expected {cell.expected}")
                yield Text(f"    {'got      ' if cell.expected else ''}{cell.got}")
                break

"""The table that ends a study in the terminal: four accuracies, and the difference of their differences."""

from __future__ import annotations

import textwrap
from itertools import chain
from typing import TYPE_CHECKING

from leakscale.report.cohorts import CohortRow, cohort_rows
from leakscale.report.transfer import TransferRow, transfer_rows
from leakscale.report.view import Arm, Block, Count, blocks
from leakscale.report.words import drift_note, finding, interval, percent, points, rounding_note, validity_note
from leakscale.results import Disclosure, Estimate

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["render_summary_table", "summary_text"]

_NOTES = (validity_note, rounding_note, drift_note)
_ARM_NAMES = {"C0": "C0 control", "C2": "C2 exposed"}


def render_summary_table(disclosure: Disclosure) -> RenderableType:
    """Arrange the result for a terminal, as a rich table that fits 80 columns, and one of other rings below it."""
    from rich import box  # noqa: PLC0415 - rich costs more than the whole of `import leakscale`
    from rich.console import Group  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(
        box=box.SIMPLE_HEAD, title=finding(disclosure), title_justify="left", title_style="bold", pad_edge=False
    )
    table.add_column("")
    for name in ("base %", "adapted %"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column(_change_heading(disclosure), justify="right", no_wrap=True)
    for block in blocks(disclosure):
        table.add_row(f"[bold]{block.name}[/]")
        for arm in block.arms:
            style = "red" if arm is block.exposed else "cyan"
            cells = [f"{accuracy} [dim]{count}[/]" for accuracy, count in map(_accuracy, (arm.base, arm.adapted))]
            table.add_row(f"  [{style}]{_arm_name(arm)}[/]", *cells, _change(arm.change))
        table.add_row("  effect", "", "", f"[bold]{_change(block.effect)}[/]", end_section=True)
    notes = (each(disclosure) for each in _NOTES)
    table.caption, table.caption_justify = "\n".join(filter(None, notes)), "left"
    tables = [table, *_rich_transfers(transfer_rows(disclosure)), *_rich_cohorts(cohort_rows(disclosure))]
    return table if len(tables) == 1 else Group(*tables)


def _rich_transfers(rows: tuple[TransferRow, ...]) -> list[RenderableType]:
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    if not rows:
        return []
    forms = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for name, justify in (("In other forms", "left"), ("", "left"), ("effect", "right"), ("share of R0", "left")):
        forms.add_column(name, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    for row in rows:
        forms.add_row(row.ring, row.domain, _change(row.effect), row.share)
    return [forms]


def _rich_cohorts(rows: tuple[CohortRow, ...]) -> list[RenderableType]:
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    if not rows:
        return []
    cohorts = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for name, justify in (("In cohorts", "left"), ("", "left"), ("effect", "right")):
        cohorts.add_column(name, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    for row in rows:
        cohorts.add_row(row.cohort, row.domain, _change(row.effect))
    return [cohorts]


def summary_text(disclosure: Disclosure) -> str:
    """Arrange the same table in plain characters, at most 80 columns wide."""
    heading = ("", "base %", "adapted %", _change_heading(disclosure))
    rows = [heading, *(row for block in blocks(disclosure) for row in _plain_rows(block))]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]
    rule = "-" * max(map(len, lines))
    sentence = finding(disclosure)
    if len(sentence) > 80:
        sentence = sentence.replace(" (", "\n(")
    notes = (textwrap.wrap(note(disclosure), 80) for note in _NOTES)
    table = [lines[0].rstrip(), rule, *(line.rstrip() for line in lines[1:])]
    forms = _transfer_lines(transfer_rows(disclosure))
    cohorts = _cohort_lines(cohort_rows(disclosure))
    return "\n".join([sentence, "", *table, *_apart(forms), *_apart(cohorts), *chain(*map(_apart, notes))])


def _apart(lines: list[str]) -> list[str]:
    """Set lines apart from what is above, if there are any."""
    return ["", *lines] if lines else []


def _plain_rows(block: Block) -> list[tuple[str, str, str, str]]:
    rows = [(block.name, "", "", "")]
    for arm in block.arms:
        base, adapted = (" ".join(_accuracy(count)) for count in (arm.base, arm.adapted))
        rows.append((f"  {_arm_name(arm)}", base, adapted, _change(arm.change)))
    return [*rows, ("  effect", "", "", _change(block.effect))]


def _transfer_lines(rows: tuple[TransferRow, ...]) -> list[str]:
    """Arrange the effects in other rings; nothing where only R0 was asked."""
    if not rows:
        return []
    cells = [("In other forms", "", "effect", "share of R0")]
    return _aligned([*cells, *((f"  {row.ring}", row.domain, _change(row.effect), row.share) for row in rows)])


def _cohort_lines(rows: tuple[CohortRow, ...]) -> list[str]:
    """Arrange the effects over cohorts; nothing where none was registered."""
    if not rows:
        return []
    cells = [("In cohorts", "", "effect", "")]
    return _aligned([*cells, *((f"  {row.cohort}", row.domain, _change(row.effect), "") for row in rows)])


def _aligned(cells: list[tuple[str, str, str, str]]) -> list[str]:
    widths = [max(len(row[column]) for row in cells) for column in range(4)]
    return [
        f"{name:<{widths[0]}}  {domain:<{widths[1]}}  {effect:>{widths[2]}}  {more:<{widths[3]}}".rstrip()
        for name, domain, effect, more in cells
    ]


def _change_heading(disclosure: Disclosure) -> str:
    return f"points ({100 * disclosure.confidence:g} % interval)"


def _arm_name(arm: Arm) -> str:
    return _ARM_NAMES[arm.condition.value]


def _accuracy(count: Count) -> tuple[str, str]:
    return percent(count.accuracy, digits=2), f"{count.correct}/{count.draws}"


def _change(estimate: Estimate) -> str:
    return f"{points(estimate.value, digits=2)} ({interval(estimate, digits=2)})"

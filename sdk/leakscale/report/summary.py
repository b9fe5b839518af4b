"""The table that ends a study in the terminal: four accuracies, and the difference of their differences."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from leakscale.report.view import Arm, Block, Count, blocks
from leakscale.report.words import drift_note, finding, interval, percent, points
from leakscale.results import Disclosure, Estimate

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["render_summary_table", "summary_text"]

_ARM_NAMES = {"C0": "C0 control", "C2": "C2 exposed"}


def render_summary_table(disclosure: Disclosure) -> Table:
    """Arrange the result for a terminal, as a rich table that fits 80 columns."""
    from rich import box  # noqa: PLC0415 - rich costs more than the whole of `import leakscale`
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
    table.caption, table.caption_justify = drift_note(disclosure) or None, "left"
    return table


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
    note = textwrap.wrap(drift_note(disclosure), 80)
    table = [lines[0].rstrip(), rule, *(line.rstrip() for line in lines[1:])]
    return "\n".join([sentence, "", *table, *([""] if note else []), *note])


def _plain_rows(block: Block) -> list[tuple[str, str, str, str]]:
    rows = [(block.name, "", "", "")]
    for arm in block.arms:
        base, adapted = (" ".join(_accuracy(count)) for count in (arm.base, arm.adapted))
        rows.append((f"  {_arm_name(arm)}", base, adapted, _change(arm.change)))
    return [*rows, ("  effect", "", "", _change(block.effect))]


def _change_heading(disclosure: Disclosure) -> str:
    return f"points ({100 * disclosure.confidence:g} % interval)"


def _arm_name(arm: Arm) -> str:
    return _ARM_NAMES[arm.condition.value]


def _accuracy(count: Count) -> tuple[str, str]:
    return percent(count.accuracy, digits=2), f"{count.correct}/{count.draws}"


def _change(estimate: Estimate) -> str:
    return f"{points(estimate.value, digits=2)} ({interval(estimate, digits=2)})"

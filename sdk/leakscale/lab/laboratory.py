"""Runs a laboratory: measures its cells, keeps them, and writes its table, its figure and every number."""

from __future__ import annotations

import importlib
import importlib.util
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import scipy

from leakscale.lab.cells import Cell, Row, Size
from leakscale.lab.journal import Journal, code_fingerprint
from leakscale.lab.running import Measure, measured_rows
from leakscale.lab.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["LABORATORIES", "FinishedLaboratory", "Laboratory", "laboratory_named", "page", "run_laboratory"]

LABORATORIES: Final = ("coverage", "transport", "power", "did")
"""Names of the laboratories; each is the module of that name in this package, with a `LABORATORY`."""


@dataclass(frozen=True, slots=True)
class Laboratory:
    """What is simulated and how its numbers are shown."""

    name: str
    title: str
    about: str
    """What the tables answer, and from where the settings are."""
    cells: Callable[[Size], list[Cell]]
    measure: Measure
    tables: Callable[[Sequence[Row]], list[Table]]
    """Rows come in the order of `cells`."""
    draw: Callable[[Sequence[Row], Figure], None]


@dataclass(frozen=True, slots=True)
class FinishedLaboratory:
    """The numbers of a laboratory and the files that hold them."""

    record: dict[str, Any]
    """JSON-ready: identity, versions and all rows."""
    markdown: str
    files: tuple[Path, ...]
    reused_count: int
    """Cells that an interrupted run had measured."""


def laboratory_named(name: str) -> Laboratory:
    """Load a laboratory.

    Raises:
        KeyError: If the name is not one of `LABORATORIES`.
    """
    if name not in LABORATORIES:
        raise KeyError(name)
    module = importlib.import_module(f"leakscale.lab.{name}")
    laboratory: Laboratory = module.LABORATORY
    return laboratory


def run_laboratory(
    laboratory: Laboratory,
    out: Path,
    *,
    size: Size,
    seed: int,
    workers: int,
    advance: Callable[[], None] = lambda: None,
) -> FinishedLaboratory:
    """Measure every cell that `out` does not hold yet, then write `NAME.json`, `NAME.md` and `NAME.svg` there.

    A quick run writes `NAME-quick.json` and so on, so that it never takes the place of numbers to cite.

    Args:
        laboratory: What to measure.
        out: Folder of the results. Until the run is finished it also holds its cells, in a file named by laboratory,
            size, seed and code, which no other run touches.
        size: Replicates to spend.
        seed: Root of all randomness.
        workers: Processes to measure in.
        advance: Called for each finished cell, reused ones included.

    Raises:
        ConflictError: If another process measures the same run in `out`.

    The figure needs matplotlib (extra `report`); without it the other two files are written.
    """
    identity = {
        "laboratory": laboratory.name,
        "size": size.value,
        "seed": seed,
        "code": code_fingerprint(),
    }
    cells = laboratory.cells(size)
    name = f"{laboratory.name}-{size.value}-seed{seed}-{identity['code']}.cells.jsonl"
    with Journal(out / name, identity) as journal:
        pending = [cell for cell in cells if cell.name not in journal.rows]
        reused = len(cells) - len(pending)
        for _ in range(reused):
            advance()
        for row in measured_rows(pending, laboratory.measure, seed=seed, workers=workers):
            journal.add(row)
            advance()
        rows = [journal.rows[cell.name] for cell in cells]
        record = {**identity, "versions": _versions(), "cells": [row.to_dict() for row in rows]}
        markdown = page(laboratory, record)
        try:
            files = _written(laboratory, out, record, markdown, rows)
        except OSError as error:
            error.filename = error.filename or str(out)  # a write to an open file names none
            raise
        journal.remove()
    return FinishedLaboratory(record, markdown, files, reused)


def _written(
    laboratory: Laboratory, out: Path, record: Mapping[str, Any], markdown: str, rows: Sequence[Row]
) -> tuple[Path, ...]:
    """Write numbers, page and, where matplotlib is installed, figure; return their paths in this order."""
    from leakscale.study.layout import write_json, write_text  # noqa: PLC0415 - workers never write

    stem = _stem(laboratory, record)
    files = [out / f"{stem}.json", out / f"{stem}.md"]
    write_json(files[0], record)
    write_text(files[1], markdown)
    if importlib.util.find_spec("matplotlib") is not None:
        from leakscale.lab.figures import write_figure  # noqa: PLC0415 - matplotlib is an extra

        files.append(out / f"{stem}.svg")
        write_figure(files[-1], lambda figure: laboratory.draw(rows, figure))
    return tuple(files)


def _stem(laboratory: Laboratory, record: Mapping[str, Any]) -> str:
    """Return the name that the files of a record share."""
    return laboratory.name if record["size"] == Size.FULL.value else f"{laboratory.name}-{record['size']}"


def page(laboratory: Laboratory, record: Mapping[str, Any]) -> str:
    """Return the Markdown page that shows a record of this laboratory."""
    is_quick = record["size"] == Size.QUICK.value
    command = f"leakscale lab {laboratory.name} --seed {record['seed']}" + (" --quick" if is_quick else "")
    head = [f"# {laboratory.title}", laboratory.about, f"`{command}` writes this page, its figure and its numbers."]
    if is_quick:
        head.append("**A quick run: too few replicates to cite.**")
    head.append(f"![{laboratory.title}]({_stem(laboratory, record)}.svg)")
    rows = [Row(**cell) for cell in record["cells"]]
    return "\n\n".join([*head, *(table.to_markdown().rstrip() for table in laboratory.tables(rows))]) + "\n"


def _versions() -> dict[str, str]:
    return {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__}

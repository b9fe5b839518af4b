"""Running a laboratory: seeds, resumption, files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from leakscale.lab import LABORATORIES, Cell, Laboratory, Row, Size, Table, laboratory_named, run_laboratory
from leakscale.lab.cells import rng_of
from leakscale.lab.journal import Journal
from leakscale.lab.running import measured_rows


def measure_one_number(cell: Cell, seed: int) -> dict[str, Any]:
    return {"value": int(rng_of(seed, cell.name).integers(0, 1 << 30))}


def draw_numbers(rows: Sequence[Row], figure: Figure) -> None:
    figure.add_subplot().plot([row.measures["value"] for row in rows])


def a_laboratory(*, cells: int = 4, fails_at: str | None = None) -> Laboratory:
    """Build a laboratory whose cells draw one number each."""

    def measure(cell: Cell, seed: int) -> dict[str, Any]:
        if cell.name == fails_at:
            raise KeyboardInterrupt
        return measure_one_number(cell, seed)

    return Laboratory(
        name="toy",
        title="A toy",
        about="One number a cell.",
        cells=lambda _size: [Cell(f"cell-{i}", {"i": i}) for i in range(cells)],
        measure=measure,
        tables=lambda rows: [Table("Numbers", ["cell", "value"], [[r.cell, str(r.measures["value"])] for r in rows])],
        draw=draw_numbers,
    )


def run(laboratory: Laboratory, out: Path, *, seed: int = 1, advances: list[int] | None = None) -> dict[str, Any]:
    """Run quickly in this process and return the record."""
    count = advances if advances is not None else []
    finished = run_laboratory(laboratory, out, size=Size.QUICK, seed=seed, workers=1, advance=lambda: count.append(1))
    return {**finished.record, "reused": finished.reused_count}


def test_same_seed_gives_the_same_files_and_another_seed_does_not(tmp_path: Path) -> None:
    """A stored table is evidence only if it can be made again, figure included."""
    for folder, seed in (("a", 1), ("b", 1), ("c", 2)):
        run(a_laboratory(), tmp_path / folder, seed=seed)

    first, again, other = ({path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()} for folder in "abc")
    assert sorted(first) == ["toy.json", "toy.md", "toy.svg"]
    assert first == again
    assert first["toy.json"] != other["toy.json"]


def test_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """Ten minutes of simulation must survive Ctrl-C, and the result must not show it."""
    with pytest.raises(KeyboardInterrupt):
        run(a_laboratory(fails_at="cell-2"), tmp_path / "a")
    advances: list[int] = []

    resumed = run(a_laboratory(), tmp_path / "a", advances=advances)

    assert resumed["reused"] == 2
    assert len(advances) == 4
    run(a_laboratory(), tmp_path / "b")
    assert (tmp_path / "a/toy.json").read_bytes() == (tmp_path / "b/toy.json").read_bytes()


def test_unfinished_line_is_measured_again(tmp_path: Path) -> None:
    """A process killed while it writes leaves half a row, which is no row."""
    path = tmp_path / "cells.jsonl"
    with Journal(path, {"seed": 1}) as journal:
        journal.add(Row("whole", {}, {"value": 1}))
        journal.add(Row("torn", {}, {"value": 2}))
    path.write_text(path.read_text(encoding="utf-8")[:-9], encoding="utf-8")

    with Journal(path, {"seed": 1}) as journal:
        found = sorted(journal.rows)
        journal.add(Row("next", {}, {"value": 3}))

    assert found == ["whole"]
    assert [json.loads(line).get("cell") for line in path.read_text(encoding="utf-8").splitlines()] == [
        None,
        "whole",
        "next",
    ]


def test_rows_of_another_run_are_not_reused(tmp_path: Path) -> None:
    """Cells of another seed, size or code are other numbers."""
    path = tmp_path / "cells.jsonl"
    with Journal(path, {"seed": 1, "code": "old"}) as journal:
        journal.add(Row("cell-0", {}, {"value": 1}))

    with Journal(path, {"seed": 1, "code": "new"}) as journal:
        assert journal.rows == {}


def test_cells_draw_from_generators_of_their_own() -> None:
    """Randomness that a cell shares with its neighbors would make results depend on their order."""
    first, again, other = (rng_of(1, name).integers(0, 1 << 60) for name in ("a", "a", "b"))

    assert first == again
    assert first != other


def test_heavy_cells_start_first() -> None:
    """A heavy cell that starts last leaves all cores but one idle."""
    cells = [Cell("light", {}, weight=1), Cell("heavy", {}, weight=9), Cell("middle", {}, weight=5)]

    rows = measured_rows(cells, measure_one_number, seed=1, workers=1)

    assert [row.cell for row in rows] == ["heavy", "middle", "light"]


@pytest.mark.parametrize("name", LABORATORIES)
@pytest.mark.parametrize("size", list(Size))
def test_cells_of_every_laboratory_have_distinct_names(name: str, size: Size) -> None:
    """Two cells of one name would share randomness, and one of them its row."""
    cells = laboratory_named(name).cells(size)
    names = [cell.name for cell in cells]

    assert names
    assert len(set(names)) == len(names)
    assert all(json.loads(json.dumps(dict(cell.settings))) == dict(cell.settings) for cell in cells)


def test_unknown_laboratory_is_refused() -> None:
    """A module of the package that is no laboratory must not be run by name."""
    with pytest.raises(KeyError):
        laboratory_named("cells")


def test_table_is_markdown_that_lines_up() -> None:
    """The stored tables are read as text, too."""
    table = Table("Widths", ["shape", "n"], [["sparse", "50"], ["a", "1000"]], note="In points.")

    assert table.to_markdown().splitlines() == [
        "### Widths",
        "",
        "In points.",
        "",
        "| shape  |    n |",
        "|--------|------|",
        "| sparse |   50 |",
        "| a      | 1000 |",
    ]

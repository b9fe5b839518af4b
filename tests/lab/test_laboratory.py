"""Running a laboratory: seeds, resumption, files."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from leakscale.errors import ConflictError
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


def run(
    laboratory: Laboratory, out: Path, *, size: Size = Size.QUICK, seed: int = 1, advances: list[int] | None = None
) -> dict[str, Any]:
    """Run in this process and return the record."""
    count = advances if advances is not None else []
    finished = run_laboratory(laboratory, out, size=size, seed=seed, workers=1, advance=lambda: count.append(1))
    return {**finished.record, "reused": finished.reused_count}


def test_same_seed_gives_the_same_files_and_another_seed_does_not(tmp_path: Path) -> None:
    """A stored table is evidence only if it can be made again, figure included."""
    for folder, seed in (("a", 1), ("b", 1), ("c", 2)):
        run(a_laboratory(), tmp_path / folder, seed=seed)

    first, again, other = ({path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()} for folder in "abc")
    assert sorted(first) == ["toy-quick.json", "toy-quick.md", "toy-quick.svg"]
    assert first == again
    assert first["toy-quick.json"] != other["toy-quick.json"]


def test_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """Ten minutes of simulation must survive Ctrl-C, and the result must not show it."""
    with pytest.raises(KeyboardInterrupt):
        run(a_laboratory(fails_at="cell-2"), tmp_path / "a")
    advances: list[int] = []

    resumed = run(a_laboratory(), tmp_path / "a", advances=advances)

    assert resumed["reused"] == 2
    assert len(advances) == 4
    run(a_laboratory(), tmp_path / "b")
    assert (tmp_path / "a/toy-quick.json").read_bytes() == (tmp_path / "b/toy-quick.json").read_bytes()


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


def test_journal_of_another_run_is_refused_and_left_alone(tmp_path: Path) -> None:
    """Cells of another seed, size or code are other numbers, and somebody's minutes."""
    path = tmp_path / "cells.jsonl"
    with Journal(path, {"seed": 1, "code": "old"}) as journal:
        journal.add(Row("cell-0", {}, {"value": 1}))
    before = path.read_bytes()

    with pytest.raises(ConflictError, match="cells of another run"), Journal(path, {"seed": 1, "code": "new"}):
        pass

    assert path.read_bytes() == before


def test_journal_has_one_writer_at_a_time(tmp_path: Path) -> None:
    """Two processes that append to one file tear each other's rows, and the first to finish deletes it."""
    path = tmp_path / "cells.jsonl"

    with Journal(path, {"seed": 1}) as journal:
        with pytest.raises(ConflictError, match="another process"), Journal(path, {"seed": 1}):
            pass
        journal.add(Row("cell-0", {}, {"value": 1}))

    with Journal(path, {"seed": 1}) as journal:
        assert list(journal.rows) == ["cell-0"]


def test_cells_of_an_interrupted_run_outlast_other_runs_in_the_folder(tmp_path: Path) -> None:
    """Ctrl-C, a quick look and another seed: none of them may cost the minutes that the first run took."""
    with pytest.raises(KeyboardInterrupt):
        run(a_laboratory(fails_at="cell-2"), tmp_path, size=Size.FULL)

    run(a_laboratory(), tmp_path)
    run(a_laboratory(), tmp_path, size=Size.FULL, seed=2)
    resumed = run(a_laboratory(), tmp_path, size=Size.FULL)

    assert resumed["reused"] == 2


def test_quick_run_leaves_finished_numbers_alone(tmp_path: Path) -> None:
    """A few replicates must never take the place of numbers that somebody cites."""
    run(a_laboratory(), tmp_path, size=Size.FULL)
    before = (tmp_path / "toy.json").read_bytes()

    run(a_laboratory(), tmp_path)

    assert (tmp_path / "toy.json").read_bytes() == before
    assert "![A toy](toy-quick.svg)" in (tmp_path / "toy-quick.md").read_text(encoding="utf-8")


def test_complaint_about_the_disk_names_the_file(tmp_path: Path) -> None:
    """`File too large` alone says neither which file nor which folder to free."""
    program = (
        "import resource, pathlib\n"
        "from leakscale.lab.cells import Row\n"
        "from leakscale.lab.journal import Journal\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))\n"
        f"path = pathlib.Path({str(tmp_path)!r}) / 'cells.jsonl'\n"
        "with Journal(path, {'seed': 1}) as journal:\n"
        "    try:\n"
        "        journal.add(Row('cell', {}, {'value': 'x' * 99}))\n"
        "    except OSError as error:\n"
        "        print(error.filename)\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == str(tmp_path / "cells.jsonl")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_a_parent_that_is_killed(number: signal.Signals, tmp_path: Path) -> None:
    """A killed run left a process a core, computing for minutes into a pipe that nobody reads."""
    program = (
        "import pathlib, sys\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "from sleeping_cells import note_and_sleep\n"
        "from leakscale.lab.cells import Cell\n"
        "from leakscale.lab.running import measured_rows\n"
        "if __name__ == '__main__':\n"
        "    cells = [Cell(f'{i}', {'folder': sys.argv[2]}) for i in range(2)]\n"
        "    list(measured_rows(cells, note_and_sleep, seed=1, workers=2))\n"
    )
    script = tmp_path / "run.py"
    script.write_text(program, encoding="utf-8")
    pids = tmp_path / "pids"
    pids.mkdir()
    parent = subprocess.Popen([sys.executable, str(script), str(Path(__file__).parent), str(pids)])
    try:
        assert _until(lambda: len(list(pids.iterdir())) == 2)
        workers = [int(path.name) for path in pids.iterdir()]
        assert all(map(_runs, workers))

        parent.send_signal(number)
        parent.wait()

        assert _until(lambda: not any(map(_runs, workers)))
    finally:
        parent.kill()
        parent.wait()


def _until(holds: Callable[[], bool]) -> bool:
    """Wait until something holds; a minute is far more than any of it takes."""
    for _ in range(1200):
        if holds():
            return True
        time.sleep(0.05)
    return False


def _runs(pid: int) -> bool:
    """Tell whether a process is there and no zombie, which only waits for somebody to collect it."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


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

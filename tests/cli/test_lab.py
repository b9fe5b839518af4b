"""`leakscale lab`: the four laboratories, quickly."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from leakscale.cli.entry import run
from leakscale.lab import LABORATORIES


@pytest.mark.parametrize("name", LABORATORIES)
def test_quick_run_writes_table_figure_and_numbers(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever doubts a printed coverage reruns it with one command, and CI sees that the command works."""
    code = run(["lab", name, "--quick", "--out", str(tmp_path), "--seed", "3", "--workers", "1"])

    assert code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"{name}-quick.{kind}" for kind in ("json", "md", "svg")
    ]
    record = json.loads((tmp_path / f"{name}-quick.json").read_text(encoding="utf-8"))
    assert (record["laboratory"], record["size"], record["seed"]) == (name, "quick", 3)
    page = (tmp_path / f"{name}-quick.md").read_text(encoding="utf-8")
    assert "too few replicates to cite" in page
    assert f"`leakscale lab {name} --seed 3 --quick`" in page
    assert page in capsys.readouterr().out


def test_two_workers_measure_what_one_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A table that depended on the number of cores could not be checked on another machine."""
    for workers in ("1", "2"):
        assert run(["lab", "transport", "--quick", "--out", str(tmp_path / workers), "--workers", workers]) == 0

    one, two = ((tmp_path / workers / "transport-quick.json").read_bytes() for workers in ("1", "2"))
    assert one == two


def test_json_output_holds_every_cell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A program reads the numbers without opening the files."""
    run(["lab", "transport", "--quick", "--out", str(tmp_path), "--workers", "1", "--json"])

    record = json.loads(capsys.readouterr().out)

    assert len(record["cells"]) == 16
    assert record["files"][0] == str(tmp_path / "transport-quick.json")


def test_without_matplotlib_the_table_is_written_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The figure is an extra; ten minutes of simulation are not."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)

    code = run(["lab", "transport", "--quick", "--out", str(tmp_path), "--workers", "1"])

    assert code == 0
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".md"]
    assert "leakscale[report]" in capsys.readouterr().err

"""`leakscale analyze` and `leakscale report` on a study directory."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from tests.report.payloads import a_payload

from leakscale.cli.entry import run
from leakscale.models import Condition, ModelState
from leakscale.report import DISCLOSURE_FILE, PROVENANCE_FILE, StudyProvenance, provenance_to_json
from leakscale.results import disclosure_from_payload, disclosure_to_json


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A finished study of one domain."""
    count = {"domain": "sql", "family_count": 32, "draw_count": 1024, "correct_count": 256, "valid_count": 1024}
    estimate = {"value": 0.6, "low": 0.5, "high": 0.7}
    body = {
        "experiment_id": "exp-1",
        "edition_id": "ed-1",
        "edition_kind": "practice",
        "commitment_root": "ab" * 32,
        "assurance_level": "L0",
        "totals": [
            {"condition": condition, "state": state, **count} for condition in Condition for state in ModelState
        ],
        "effects": [{"domain": "sql", "effect": estimate, "c0_drift": estimate, "c2_change": estimate}],
        "confidence": 0.95,
        "resample_count": 10_000,
        "bootstrap_seed": "7",
    }
    disclosure = disclosure_from_payload(a_payload(body), signature=b"s" * 64, public_key=b"k" * 32)
    provenance = StudyProvenance(
        study="demo",
        rerun_command="make demo",
        model_id="tiny",
        model_digests={},
        adapter_digest="22" * 32,
        corpus_digest="33" * 32,
        certificates_digest="44" * 32,
        certified_count=64,
        rejected_count=0,
        backend="docker",
        seeds={},
        stage_seconds={},
        versions={},
    )
    (tmp_path / DISCLOSURE_FILE).parent.mkdir()
    (tmp_path / DISCLOSURE_FILE).write_text(disclosure_to_json(disclosure))
    (tmp_path / PROVENANCE_FILE).write_text(provenance_to_json(provenance))
    return tmp_path


def test_analyze_prints_the_finding_and_the_table(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The answer comes first; the counts that it comes from follow."""
    code = run(["analyze", str(study)])

    shown = capsys.readouterr().out
    assert code == 0
    assert shown.startswith("Exposure moved this model's accuracy by +60.0 points\n(95 % interval +50.0 to +70.0).\n")
    assert shown.count("256/1024") == 4


def test_analyze_as_json_carries_the_integer_totals(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A program gets counts, not rounded percentages."""
    run(["analyze", str(study), "--json"])

    result = json.loads(capsys.readouterr().out)
    assert result["finding"].startswith("Exposure moved")
    assert [total["correct_count"] for total in result["totals"]] == [256] * 4


def test_report_is_written_beside_the_study(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The path is printed, so that it can be opened."""
    code = run(["report", str(study)])

    assert code == 0
    assert capsys.readouterr().out == f"report: {study / 'report.html'}\n"
    assert "+60.0 points" in (study / "report.html").read_text(encoding="utf-8")


def test_report_writes_its_figures_too(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For a paper: SVG and PDF, each with its numbers; a withheld one has the reason in its CSV."""
    folder = tmp_path / "figures"

    assert run(["report", str(study), "--figures", str(folder)]) == 0

    names = {path.name for path in folder.iterdir()}
    assert {"effects.svg", "effects.pdf", "effects.csv", "trajectories-sql.svg", "shapes-sql.csv"} <= names
    assert "shapes-sql.svg" not in names
    assert (folder / "shapes-sql.csv").read_text().startswith("withheld\n")
    assert f"figures: {len(names)} files in {folder}" in capsys.readouterr().out


def test_report_goes_where_it_is_told(study: Path, tmp_path: Path) -> None:
    """A folder that does not exist yet is made."""
    run(["report", str(study), "--output", str(tmp_path / "new" / "page.html")])

    assert (tmp_path / "new" / "page.html").is_file()


def test_damaged_study_leaves_the_old_report_alone(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A failed run must not destroy what an earlier one wrote."""
    (study / "report.html").write_text("old")
    (study / PROVENANCE_FILE).write_text("{}")

    code = run(["report", str(study)])

    assert code == 1
    assert "provenance is not of format" in capsys.readouterr().err
    assert (study / "report.html").read_text() == "old"


def test_reader_that_goes_away_causes_no_noise(study: Path) -> None:
    """`leakscale … | head -1` is normal use."""
    reader, writer = os.pipe()
    os.close(reader)

    done = subprocess.run(
        [sys.executable, "-m", "leakscale.cli", "analyze", str(study)],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)

    assert done.returncode == 141
    assert done.stderr == ""


def test_terminal_gets_color_and_the_same_numbers(study: Path) -> None:
    """The table for eyes and the table for files must not drift apart."""
    main, terminal = pty.openpty()

    process = subprocess.Popen(
        [sys.executable, "-m", "leakscale.cli", "analyze", str(study)],
        stdout=terminal,
        stderr=terminal,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "80"},
    )
    os.close(terminal)
    shown = b""
    with contextlib.suppress(OSError):  # Linux reports the end of a terminal as EIO
        while chunk := os.read(main, 65536):
            shown += chunk
    os.close(main)

    assert process.wait(30) == 0
    assert b"\x1b[" in shown
    assert shown.count(b"256/1024") == 4
    assert shown.count(b"+60.00 (+50.00 to +70.00)") == 3

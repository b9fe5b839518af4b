"""A finished practice study is opened: its results by family, beside its numbers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from leakscale.analysis import read_results
from leakscale.cli.entry import run
from leakscale.results import disclosure_from_json, disclosure_from_payload, disclosure_to_json
from leakscale.statements import Predicate, statement


@pytest.fixture
def study(finished: Path, tmp_path: Path) -> Path:
    """A copy of a finished study, which may be changed."""
    return shutil.copytree(finished, tmp_path / "run")


def open_here(study: Path) -> int:
    """Run `leakscale study open` in this process."""
    return run(["study", "open", str(study), "--backend", "bubblewrap"])


def test_an_opened_study_shows_every_table_and_they_add_up_to_what_was_released(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`analyze` refuses results that are not those of the released totals."""
    results = study / "analysis" / "results.parquet"

    assert open_here(study) == 0

    assert capsys.readouterr().out == f"results by family: {results}\n"
    table = read_results(results)
    assert len(table.correct) == 16 * 4 * 2
    assert table.probability is not None
    assert run(["analyze", str(study), "--json"]) == 0
    tables = json.loads(capsys.readouterr().out)["analysis"]["tables"]
    assert [name for name, one in tables.items() if one["withheld"]] == []
    assert len(tables["shapes-sql"]["rows"]) == 1


def test_opening_a_study_again_writes_the_same_bytes(study: Path) -> None:
    """The edition is retired once; a file that differs would be other evidence."""
    open_here(study)
    first = (study / "analysis" / "results.parquet").read_bytes()

    assert open_here(study) == 0
    assert (study / "analysis" / "results.parquet").read_bytes() == first


def test_a_private_edition_is_not_retired_along_with_a_study(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Others may still measure with it; its truth is not this command's to give away."""
    path = study / "analysis" / "disclosure.json"
    released = disclosure_from_json(path.read_text())
    payload = statement(
        Predicate.DISCLOSURE,
        subject="experiments/small",
        digest=b"\xef" * 32,
        predicate={**released.numbers, "edition_kind": "private"},
    )
    private = disclosure_from_payload(payload, signature=released.signature, public_key=released.public_key)
    path.write_text(disclosure_to_json(private))
    log = (study / "server.log").read_bytes()

    assert open_here(study) != 0

    assert "only a practice edition is opened with its study" in capsys.readouterr().err
    assert (study / "server.log").read_bytes() == log
    assert not (study / "analysis" / "results.parquet").exists()

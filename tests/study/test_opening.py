"""A finished practice study is opened: its results by family, beside its numbers."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from leakscale.analysis import read_results
from leakscale.cli.entry import run
from leakscale.errors import PreconditionError
from leakscale.models import Edition, EditionKind, EditionPhase
from leakscale.study.opening import require_openable


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


def test_a_folder_without_a_finished_study_gets_no_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A server would make its data there, and hide that the name was mistyped."""
    assert open_here(tmp_path) == 2

    assert "has no analysis/disclosure.json" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def an_edition(kind: EditionKind, phase: EditionPhase) -> Edition:
    """Build an edition without families."""
    return Edition("editions/e", kind, phase, 4, (), 0, 0, b"", b"", datetime(2026, 1, 1, tzinfo=UTC), None)


def test_a_private_edition_is_not_retired_along_with_a_study() -> None:
    """Others may still measure with it; its truth is not this command's to give away."""
    with pytest.raises(PreconditionError, match=r"'editions/e' is private.*`leakscale edition retire`"):
        require_openable(an_edition(EditionKind.PRIVATE, EditionPhase.FROZEN))

    require_openable(an_edition(EditionKind.PRIVATE, EditionPhase.RETIRED))
    require_openable(an_edition(EditionKind.PRACTICE, EditionPhase.FROZEN))

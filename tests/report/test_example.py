"""The example that is committed: its numbers are those that its study holds, and those of the README."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest

from leakscale.report import finding, read_findings, study_figures

from .browser import faults_of, looks

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs" / "example-report"


def test_the_example_shows_the_numbers_that_its_study_gives_today() -> None:
    """Run `make example-report EXAMPLE_ARGS=--page` where this fails: the example is what people look at first."""
    page = (EXAMPLE / "report.html").read_text(encoding="utf-8")
    figures = study_figures(read_findings(EXAMPLE / "study"))

    for name, figure in figures.items():
        numbers = figure.table.to_csv()
        assert (EXAMPLE / "figures" / f"{name}.csv").read_text() == numbers
        assert base64.b64encode(numbers.encode()).decode() in page
    stems = {path.stem for path in (EXAMPLE / "figures").glob("*.svg")}
    assert stems == {figure.file_stem(panel) for figure in figures.values() for panel in figure.panels}


def test_the_example_and_the_readme_tell_of_the_same_run() -> None:
    """Two numbers for one demo would be one too many."""
    words = finding(read_findings(EXAMPLE / "study").disclosure)

    assert words.replace(" (", "\n(") in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_names_no_folder_of_the_machine_that_made_it() -> None:
    """It is made where nobody else has been."""
    page = (EXAMPLE / "report.html").read_text(encoding="utf-8")

    assert "<code>leakscale demo</code>" in page
    assert not re.search(r"(?<![\w.])/(?:tmp|home|root|work)/", page)


@pytest.mark.parametrize(
    ("folder", "typed", "named"),
    [
        (EXAMPLE, Path("study"), "study"),
        (EXAMPLE / "study", Path(), "study"),
        (EXAMPLE / "figures", Path("../study"), "../study"),
        (EXAMPLE.parent, EXAMPLE / "study", "example-report/study"),
        (EXAMPLE / "figures", EXAMPLE / "study", "study"),
    ],
)
def test_the_commands_of_a_report_name_its_study_and_no_folder_of_a_machine(
    monkeypatch: pytest.MonkeyPatch, folder: Path, typed: Path, named: str
) -> None:
    """`--out` may point anywhere, and where somebody's files lie is nobody else's business."""
    monkeypatch.chdir(folder)

    findings = read_findings(typed)

    assert findings.study == named
    assert study_figures(findings)["effects"].command == f"leakscale report {named} --figures figures"


@pytest.mark.browser
def test_the_example_is_whole_on_a_phone_and_on_a_desk_in_both_themes(tmp_path: Path) -> None:
    """With the words and numbers of a real study."""
    for name, look in looks(EXAMPLE / "report.html", tmp_path / "browser"):
        assert faults_of(look) == {}, name
        assert (look.overflow_px, look.wide_elements) == (0, ()), name
        assert look.cut_letters == look.overlapping_letters == (), name

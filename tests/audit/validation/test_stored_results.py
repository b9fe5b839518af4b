"""The results that the documentation quotes follow from the runs that are stored, and are of the study that ships."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import pytest
from tests.report.browser import Browser, browser_program, faults_of

from leakscale.audit.validation.contrasts import RunNumbers, contrasts_of, validation_tables
from leakscale.audit.validation.figures import difference_table
from leakscale.audit.validation.page import render_validation, validation_figures
from leakscale.audit.validation.plan import Condition, load_validation
from leakscale.audit.validation.running import ValidationAnalysis
from leakscale.report.page import typographic
from leakscale.resources import studies_folder
from leakscale.tabled import tables_text

DOCS: Final = Path(__file__).parents[3] / "docs"
STORED: Final[dict[str, Any]] = json.loads((DOCS / "cleanscore-validation/analysis.json").read_text(encoding="utf-8"))


def stored() -> ValidationAnalysis:
    """Compute contrasts and tables of the stored runs."""
    study = load_validation(studies_folder() / "cleanscore-validation.toml")
    runs = tuple(RunNumbers(**(run | {"condition": Condition(run["condition"])})) for run in STORED["runs"])
    contrasts = contrasts_of(runs, alpha=study.alpha)
    return ValidationAnalysis(study, runs, contrasts, validation_tables(study, runs, contrasts), {})


def test_tables_follow_from_the_stored_runs() -> None:
    """Every printed number, to the last digit; and the study's own rule says that it came as expected."""
    found = stored()
    study, contrasts, tables = found.study, found.contrasts, found.tables
    text = (DOCS / "cleanscore-validation/tables.txt").read_text(encoding="utf-8")

    assert STORED["study"] == study.to_json()
    assert tables_text(tables) + "\n" == text
    assert contrasts.is_confirmed is STORED["is_confirmed"] is True
    assert {name: table["rows"] for name, table in STORED["tables"].items()} == {
        table.name: json.loads(json.dumps(table.to_dict()["rows"])) for table in tables
    }


def test_the_page_quotes_the_stored_tables() -> None:
    """Its two blocks stand in the file as they do on the page."""
    page = (DOCS / "audit-controls.md").read_text(encoding="utf-8")
    contrasts, conditions, _ = (DOCS / "cleanscore-validation/tables.txt").read_text(encoding="utf-8").split("\n\n")

    assert contrasts in page
    assert conditions in page


def test_the_figure_of_the_page_shows_the_stored_runs() -> None:
    """Both registered contrasts and the one beside, each with the difference of every seed."""
    (figure,) = validation_figures(stored())
    folder = DOCS / "cleanscore-validation"
    drawn = (folder / "seed-contrasts.svg").read_text(encoding="utf-8")

    assert (folder / "seed-contrasts.csv").read_text(encoding="utf-8") == figure.table.to_csv()
    assert figure.panels[0].description in drawn
    assert "exact less related: +45.8 points (+41.9 to +49.8); seed 1 +48.3, seed 2 +50.0" in drawn
    assert "paraphrase less related: -22.5 points" in drawn
    assert "](cleanscore-validation/seed-contrasts.svg)" in (DOCS / "audit-controls.md").read_text(encoding="utf-8")


def test_a_seed_is_one_row_of_the_figures_numbers() -> None:
    """Eighteen differences, their means those of the contrasts."""
    found = stored()
    rows = difference_table(found.contrasts).rows
    exact = [row for row in rows if row.contrast == "exact less related"]

    assert len(rows) == 3 * len(found.study.training.seeds)
    assert fmean(row.difference for row in exact) == pytest.approx(found.contrasts.exact.difference.estimate)
    assert {row.over_seeds for row in exact} == {found.contrasts.exact.difference}
    assert [row.is_registered for row in rows] == ["registered"] * 12 + ["beside"] * 6


@pytest.mark.browser
def test_a_browser_finds_no_fault_with_the_report(tmp_path: Path) -> None:
    """Wide and narrow, light and dark; and every number of table 1 is on it."""
    program = browser_program()
    assert program is not None
    page = tmp_path / "report.html"
    page.write_text(render_validation(stored()), encoding="utf-8")
    _, contrasts = stored().tables[0].cells

    assert all(typographic(cell) in page.read_text(encoding="utf-8") for row in contrasts for cell in row)
    with Browser(program, tmp_path / "browser") as browser:
        for width, theme in ((1100, "light"), (380, "dark")):
            assert faults_of(browser.look(page, width=width, theme=theme)) == {}

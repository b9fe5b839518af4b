"""The results that the documentation quotes follow from the runs that are stored, and are of the study that ships."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from leakscale.audit.validation.contrasts import RunNumbers, contrasts_of, validation_tables
from leakscale.audit.validation.plan import Condition, load_validation
from leakscale.resources import studies_folder
from leakscale.tabled import tables_text

DOCS: Final = Path(__file__).parents[3] / "docs"
STORED: Final[dict[str, Any]] = json.loads((DOCS / "cleanscore-validation/analysis.json").read_text(encoding="utf-8"))


def test_tables_follow_from_the_stored_runs() -> None:
    """Every printed number, to the last digit; and the study's own rule says that it came as expected."""
    study = load_validation(studies_folder() / "cleanscore-validation.toml")
    runs = [RunNumbers(**(run | {"condition": Condition(run["condition"])})) for run in STORED["runs"]]
    contrasts = contrasts_of(runs, alpha=study.alpha)
    tables = validation_tables(study, runs, contrasts)
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

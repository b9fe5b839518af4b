"""docs/analysis.md: its example prints what it says, and no table is missing from it."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest
from tests.analysis.cases import its_analysis

PAGE = Path(__file__).resolve().parents[2] / "docs" / "analysis.md"


def test_example_prints_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An example that does not run teaches a reader to distrust the rest."""
    found = re.search(r"```python\n(.*?)```\s*```text\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()

    with contextlib.redirect_stdout(printed):
        exec(compile(found[1], str(PAGE), "exec"), {})

    assert printed.getvalue() == found[2]


def test_every_table_is_on_the_page() -> None:
    """Who wants a table finds its name, and who has a table finds what it means."""
    text = PAGE.read_text(encoding="utf-8")

    assert [table.name for table in its_analysis().tables if f"`{table.name}`" not in text] == []

"""docs/statistics.md: its example prints what it says, and no public function is missing from it."""

from __future__ import annotations

import contextlib
import inspect
import io
import re
from pathlib import Path

import leakscale.stats

PAGE = Path(__file__).resolve().parents[2] / "docs" / "statistics.md"


def test_example_prints_what_the_page_shows() -> None:
    """An example that does not run teaches a reader to distrust the rest."""
    text = PAGE.read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```\s*```text\n(.*?)```", text, re.DOTALL)
    assert found is not None
    printed = io.StringIO()

    with contextlib.redirect_stdout(printed):
        exec(compile(found[1], str(PAGE), "exec"), {})

    assert printed.getvalue() == found[2]


def test_every_public_function_is_on_the_page() -> None:
    """Who looks for a method finds it, with when to use it."""
    text = PAGE.read_text(encoding="utf-8")

    functions = {name for name in leakscale.stats.__all__ if inspect.isfunction(getattr(leakscale.stats, name))}
    missing = {name for name in functions if f"`{name}" not in text and f"{name}(" not in text}
    assert not missing

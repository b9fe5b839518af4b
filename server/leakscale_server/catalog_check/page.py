"""A check as one HTML page that needs no network, no script and no other file."""

from __future__ import annotations

from pathlib import Path

import jinja2

from leakscale_server.catalog_check.report import CheckReport
from leakscale_server.catalog_check.tables import Mark

__all__ = ["render_page", "write_page"]

_SIGNS = {Mark.PASS: "✓", Mark.FAIL: "✗", Mark.ENDED: "!", Mark.NOT_HELD: "?", Mark.NOT_RUN: "·"}


def write_page(path: Path, report: CheckReport) -> None:
    """Write the page, replacing an older one only when the new one is complete.

    Raises:
        OSError: If it cannot be written.
    """
    draft = path.with_name(f".{path.name}.draft")
    try:
        draft.write_text(render_page(report), encoding="utf-8")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def render_page(report: CheckReport) -> str:
    """Return the page as text; the same report gives the same bytes."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("leakscale_server.catalog_check"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("check.html.j2").render(report=report, signs=_SIGNS)

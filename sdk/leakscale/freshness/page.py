"""Contact and consequence on one page: side by side, each with its own evidence, and no number made of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from leakscale.errors import IntegrityError, NotFoundError
from leakscale.freshness.drift import Measurement, drift_table, said
from leakscale.freshness.life import LifeRow, life_table
from leakscale.reading import fault_of, parse_json
from leakscale.report.figures import ForestRow, forest_panel
from leakscale.report.page import PageFigure, render_page, typographic
from leakscale.stats import EffectDrift
from leakscale.tables import Table, TableHead

__all__ = ["CONTACT", "ContactRow", "FreshnessPage", "contact_table", "drift_figure", "read_scan", "render_freshness"]

CONTACT: Final = TableHead("", "contact", "What a training corpus holds of the edition")
_CONTENTS: Final[Mapping[str, str]] = {
    "consequence": "Consequence: how far the effect moved",
    "contact": "Contact: what a corpus holds",
    "life": "Life of the edition",
    "reading": "What neither says of the other",
}


@dataclass(frozen=True, slots=True)
class ContactRow:
    """One kind of evidence."""

    kind: str
    met: int
    of: int
    hits: int
    records: int


@dataclass(frozen=True, slots=True)
class FreshnessPage:
    """What a page shows."""

    stored: Measurement
    new: Measurement
    found: tuple[EffectDrift, ...]
    command: str
    """What makes it, as one types it."""
    scan: Mapping[str, Any] | None = None
    """What `leakscale freshness scan --json` printed; None where nobody scanned."""
    life: tuple[LifeRow, ...] | None = None


def read_scan(path: Path) -> Mapping[str, Any]:
    """Read what a scan printed with `--json`.

    Raises:
        NotFoundError: If there is no such file.
        IntegrityError: If it is none.
    """
    try:
        fields = parse_json(path.read_text(encoding="utf-8"))
        contact_table(fields)
    except FileNotFoundError as error:
        raise NotFoundError(f"scan '{path}' does not exist; write it with `freshness scan --json > FILE`") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise IntegrityError(
            f"'{path}' is no result of `freshness scan --json` ({fault_of(error)}); scan again"
        ) from error
    return dict(fields)


def contact_table(scan: Mapping[str, Any]) -> Table[ContactRow]:
    """Arrange what was met as a table."""
    rows = [ContactRow(kind, one["met"], one["of"], one["hits"], one["records"]) for kind, one in scan["kinds"].items()]
    grants = ", ".join(one["grant"] for one in scan["grants"])
    origin = f"Leaked by {grants}." if grants else "No grant is named."
    unread = f" Not read to the end: {', '.join(one['file'] for one in scan['unread'])}." if scan["unread"] else ""
    where = f"{scan['edition']} in {scan['files']:,} files: evidence in {scan['evidence']['records']:,} records."
    return CONTACT.filled(rows, f"{where} {origin}{unread}")


def drift_figure(found: Sequence[EffectDrift], stored: Measurement, new: Measurement, *, command: str) -> PageFigure:
    """Draw the effects, stored and new, and under them how far they moved."""
    rows = [
        row
        for one in found
        for row in (
            ForestRow(one.domain or "all domains", f"stored, {stored.model}", one.stored),
            ForestRow(one.domain or "all domains", f"new, {new.model}", one.new),
            ForestRow(one.domain or "all domains", "drift", one.drift, one.exact),
        )
    ]
    return PageFigure(
        name="drift",
        title="Exposure effect, stored and new",
        caption="In points, with intervals over families; the thin line under a drift is its limit without a seed.",
        table=drift_table(tuple(found)),
        panels=(forest_panel(rows, name="", title="Drift"),),
        command=command,
    )


def render_freshness(page: FreshnessPage) -> str:
    """Return the page. The same values give the same bytes.

    Raises:
        InvalidRequestError: If the extra `report` is not installed.
    """
    contents = {anchor: heading for anchor, heading in _CONTENTS.items() if anchor != "life" or page.life is not None}
    return render_page(
        "leakscale.freshness",
        "freshness.html.j2",
        contents=contents,
        finding=typographic(said(page.found, page.stored, page.new)),
        drift=drift_figure(page.found, page.stored, page.new, command=page.command),
        contact=None if page.scan is None else contact_table(page.scan),
        life=None if page.life is None else life_table(page.life),
        rerun=page.command,
    )

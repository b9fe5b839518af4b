"""The report of a study: one HTML file that needs no network, no script and no other file."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from leakscale.errors import InvalidRequestError
from leakscale.evidence.steps import Status
from leakscale.models import ModelState
from leakscale.report.figures import absence_word, study_figures
from leakscale.report.findings import Findings
from leakscale.report.page import render_page, typographic, write_page
from leakscale.report.transfer import transfer_rows
from leakscale.report.view import blocks, domain_name
from leakscale.report.words import (
    ASSURANCE,
    drift_note,
    finding,
    interval,
    percent,
    points,
    scope,
    verdict,
)
from leakscale.results import CellTotal, Disclosure, Estimate

__all__ = ["render_report", "write_report"]

_CONTENTS: Final[Mapping[str, str]] = {
    "accuracies": "Four accuracies and their differences",
    "control": "Why there is a control",
    "spread": "How families differ",
    "shapes": "Where it comes from",
    "transfer": "What acts in other forms",
    "doses": "How it grows with strength",
    "crossed": "Domains together",
    "sampling": "How much is sampling noise",
    "validity": "Answers that count",
    "assurance": "How far to trust it",
    "scope": "What the number speaks about",
    "evidence": "Chain of evidence",
    "tables": "Every table",
    "rerun": "Run it again",
}


def write_report(path: Path, findings: Findings) -> Path:
    """Write the report of one study, replacing an older one only when the new one is complete; return the path.

    Raises:
        InvalidRequestError: If the extra `report` is not installed, or the disclosure holds no effect.
    """
    return write_page(path, render_report(findings))


def render_report(findings: Findings) -> str:
    """Return the report as text. The same findings give the same bytes.

    Raises:
        InvalidRequestError: If the extra `report` is not installed, or the disclosure holds no effect.
    """
    disclosure, provenance = findings.disclosure, findings.provenance
    if not disclosure.effects or not disclosure.totals:
        raise InvalidRequestError(f"disclosure of experiment '{disclosure.experiment_id}' holds no effect to report")
    study = shlex.quote(findings.study)
    return render_page(
        "leakscale.report",
        "study.html.j2",
        contents=_CONTENTS,
        filters={"points": _points, "interval": _interval, "percent": percent, "setting": _setting},
        disclosure=disclosure,
        provenance=provenance,
        blocks=blocks(disclosure),
        level=f"{100 * disclosure.confidence:g}",
        finding=typographic(finding(disclosure)),
        verdict=verdict(disclosure),
        drift_note=drift_note(disclosure),
        assurance=ASSURANCE.get(
            disclosure.assurance_level, "The server named a level that this version does not know."
        ),
        scope=scope(disclosure),
        figures=study_figures(findings),
        transfers=transfer_rows(disclosure),
        tables=findings.analysis.tables,
        absence=absence_word(findings),
        steps=findings.steps,
        holding=sum(step.status is Status.HOLDS for step in findings.steps or ()),
        failing=[step.name for step in findings.steps or () if step.status is Status.FAILS],
        verify_command=f"leakscale verify {study}",
        analyze_command=f"leakscale analyze {study} --tables",
        banks=_banks(disclosure),
        seeds={**provenance.seeds, "bootstrap": disclosure.bootstrap_seed},
        payload_digest=hashlib.sha256(disclosure.payload).hexdigest(),
        family_count=sum(total.family_count for total in disclosure.totals if total.state is ModelState.BASE),
        draw_count=sum(total.draw_count for _, total in _all_totals(disclosure)),
        total_seconds=sum(provenance.stage_seconds.values()),
    )


def _banks(disclosure: Disclosure) -> list[dict[str, Any]]:
    return [
        {
            "name": f"{domain_name(total.domain)} · {total.condition} · {total.state}{ring}",
            "planned": total.draw_count,
            "valid": total.valid_count,
            "failed": total.draw_count - total.valid_count,
        }
        for ring, total in _all_totals(disclosure)
    ]


def _all_totals(disclosure: Disclosure) -> list[tuple[str, CellTotal]]:
    """Return every cell with the suffix that names its ring, which R0 has none of."""
    others = [(f" · {each.ring}", total) for each in disclosure.transfers for total in each.totals]
    return [("", total) for total in disclosure.totals] + others


def _points(value: float, digits: int = 1) -> str:
    return typographic(points(value, digits=digits))


def _interval(estimate: Estimate, digits: int = 1) -> str:
    return typographic(interval(estimate, digits=digits))


def _setting(value: str | float) -> str:
    """Write a setting; six digits of a measured one are enough to recognize it."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)

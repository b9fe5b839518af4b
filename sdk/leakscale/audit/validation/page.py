"""The report of a validation study: one HTML file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from leakscale.audit.validation.contrasts import Contrasts
from leakscale.audit.validation.figures import contrast_figure
from leakscale.audit.validation.running import ValidationAnalysis
from leakscale.report.page import PageFigure, render_page, write_page

__all__ = ["render_validation", "validation_figures", "validation_finding", "write_validation_report"]

_COMMAND: Final = "leakscale audit validate"
_CONTENTS: Final[Mapping[str, str]] = {
    "contrasts": "What each exposure did",
    "runs": "Every mixture and every run",
    "limits": "What this does not show",
}


def validation_figures(analysis: ValidationAnalysis) -> tuple[PageFigure, ...]:
    """Return the figures of a study."""
    return (contrast_figure(analysis.contrasts, command=_COMMAND),)


def write_validation_report(path: Path, analysis: ValidationAnalysis) -> Path:
    """Write the report, replacing an older one only when the new one is complete; return the path.

    Raises:
        InvalidRequestError: If the extra `report` is not installed.
    """
    return write_page(path, render_validation(analysis))


def render_validation(analysis: ValidationAnalysis) -> str:
    """Return the report as one HTML page; the same numbers give the same bytes.

    Raises:
        InvalidRequestError: If the extra `report` is not installed.
    """
    (contrasts,) = validation_figures(analysis)
    seeds = analysis.study.training.seeds
    return render_page(
        "leakscale.audit.validation",
        "validation.html.j2",
        contents=_CONTENTS,
        finding=validation_finding(analysis.contrasts),
        study=analysis.study,
        contrasts=contrasts,
        tables=analysis.tables,
        seed_count=len(seeds),
        command_line=_COMMAND,
    )


def validation_finding(contrasts: Contrasts) -> str:
    """Say in one sentence what the study's own rule says."""
    if contrasts.is_confirmed:
        return "The audit saw the leak of public forms, and none where only rewordings were leaked"
    return "The audit did not tell exact from paraphrase exposure as it was to"

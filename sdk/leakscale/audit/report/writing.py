"""From findings to a page and its Markdown twin. The same findings give the same bytes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from leakscale.audit.report.figures import audit_figures
from leakscale.audit.report.findings import AuditFindings, csv_name, table_files
from leakscale.audit.report.trust import ASSURANCE, server_words
from leakscale.audit.report.twin import render_markdown
from leakscale.audit.report.words import caution, control_words, finding, pool_command
from leakscale.report.page import render_page, typographic, write_page
from leakscale.whole_files import write_whole

__all__ = ["render_audit_report", "write_audit_report"]

_CONTENTS: Final[Mapping[str, str]] = {
    "gaps": "Public against fresh wording",
    "exposure": "What may be owed to exposure",
    "controls": "Would it have seen a leak?",
    "precision": "How finely this audit sees",
    "registration": "What was fixed before",
    "files": "Where each number comes from",
    "tables": "Every table",
}


def write_audit_report(findings: AuditFindings) -> tuple[Path, Path]:
    """Write `report.html` and `report.md` into the audit's folder, replacing older ones; return both paths.

    Raises:
        InvalidRequestError: If the extra `report` is not installed.
    """
    page = write_page(findings.directory.report, render_audit_report(findings))
    twin = page.with_suffix(".md")
    write_whole(twin, render_markdown(findings).encode())
    return page, twin


def render_audit_report(findings: AuditFindings) -> str:
    """Return the report as one HTML page.

    Raises:
        InvalidRequestError: If the extra `report` is not installed.
    """
    registration = findings.registration
    return render_page(
        "leakscale.audit.report",
        "audit.html.j2",
        contents=_CONTENTS,
        findings=findings,
        registration=registration,
        plan=registration.plan,
        finding=typographic(finding(findings)),
        caution=caution(findings),
        assurance=ASSURANCE[registration.assurance_level],
        server_words=server_words(findings),
        figures=audit_figures(findings),
        control_lines={each.control.name: control_words(each) for each in findings.controls},
        files=table_files(findings),
        csv_name=csv_name,
        pool_command=pool_command(findings),
        analyze_command=f"leakscale audit analyze {findings.folder}",
    )

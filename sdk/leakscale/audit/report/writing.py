"""From findings to a page and its Markdown twin. The same findings give the same bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from leakscale.audit.controls.filing import ControlAnalysis
from leakscale.audit.controls.plan import ExposureKind
from leakscale.audit.controls.tables import null_verdict, seed_verdict
from leakscale.audit.report.control_figures import landed_table
from leakscale.audit.report.figures import audit_figures
from leakscale.audit.report.findings import AuditFindings, csv_name, table_files
from leakscale.audit.report.trust import ASSURANCE, server_words
from leakscale.report.page import render_page, typographic, write_page
from leakscale.tables import Table
from leakscale.whole_files import write_whole

__all__ = ["finding", "render_audit_report", "render_markdown", "write_audit_report"]

_CONTENTS: Final[Mapping[str, str]] = {
    "gaps": "Public against fresh wording",
    "exposure": "What may be owed to exposure",
    "controls": "Would it have seen a leak?",
    "precision": "How finely this audit sees",
    "registration": "What was fixed before",
    "files": "Where each number comes from",
    "tables": "Every table",
}


_FORMS: Final = {ExposureKind.EXACT: "Public forms", ExposureKind.PARAPHRASE: "Fresh forms"}


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


def finding(findings: AuditFindings) -> str:
    """Say in one sentence what the registered rule allows to be said."""
    models = [row.model for row in findings.analysis.table("advantage").rows]
    if findings.registration.control is None:
        return f"{_counted(len(models))} measured; without a control bank no advantage can be claimed"
    if not findings.claiming:
        return f"No public-form advantage claimed for {_listed(models)}"
    return f"Public-form advantage claimed for {_listed(findings.claiming)}"


def caution(findings: AuditFindings) -> str:
    """Say what the finding does not say."""
    if findings.claiming:
        return (
            "The public wording is easier than fresh ones by more than sampling, ordinary form mismatch and the "
            "registered radius explain. How the model came to it is not shown by a gap."
        )
    easier = [row.model for row in findings.analysis.table("claims").rows if row.verdict == "gap_only"]
    if easier:
        return (
            f"The public wording is easier than fresh ones for {_listed(easier)}, and an ordinary difference between "
            "wordings, within what control bank and radius allow, may explain it."
        )
    return (
        "Nothing was shown; what may still be there is in the intervals. A gap sees only what an exposure does to this "
        "wording: what carries over to other wordings leaves it at zero."
    )


def control_words(control: ControlAnalysis) -> list[str]:
    """Return what a positive control found, a sentence each."""
    run, plan = control.registered, control.control
    seeds = len([each for each in control.runs if not each.run.is_null])
    counted = f"{seeds} seed{'s' * (seeds != 1)}"
    verdicts = (
        run.manipulation,
        run.gap,
        run.share,
        null_verdict(plan, control.runs),
        seed_verdict(plan, control.runs),
    )
    return [
        f"{_FORMS[plan.exposure.kind]} of {control.exposed_count} of {control.parent_count} parents leaked; {counted}, "
        f"registered: {run.run.label}.",
        *(f"{_sentence(str(each))}." for each in verdicts if each is not None),
    ]


def pool_command(findings: AuditFindings) -> str:
    """Return the command that computes what the controls say together."""
    return f"leakscale audit pool {findings.folder}"


def render_markdown(findings: AuditFindings) -> str:
    """Return the report in Markdown; tables name the CSV files that hold them in full precision."""
    return "\n".join(_markdown(findings)) + "\n"


def _markdown(findings: AuditFindings) -> Iterator[str]:
    registration = findings.registration
    yield from (f"# {finding(findings)}", "", caution(findings), "")
    yield (
        f"Audit `{findings.name}` of {registration.plan.benchmark.id}, locked {registration.locked_at}, assurance "
        f"level {registration.assurance_level}: {ASSURANCE[registration.assurance_level]}"
    )
    if findings.origin is not None:
        yield from ("", *server_words(findings), f"Server's key: `{findings.origin.server_key.hex()}`")
    files = table_files(findings)
    for table in findings.analysis.tables:
        yield from _markdown_table(table, files[table.name], f"leakscale audit analyze {findings.folder}")
    yield from _markdown_controls(findings)
    for amendment, analysis in findings.amended:
        yield from ("", f"## Amendment {amendment.number}: {_one_line(amendment.reason)}", "", "Beside, never instead.")
        for table in analysis.tables:
            file = f"analysis/{amendment.variant}/{csv_name(table)}"
            command = f"leakscale audit analyze {findings.folder} --variant {amendment.variant}"
            yield from _markdown_table(table, file, command)
    yield from _markdown_entered(findings)
    yield from _markdown_table(findings.files, "", f"leakscale audit report {findings.folder}")
    yield from ("", f"Ledger: `{findings.head}`")


def _markdown_controls(findings: AuditFindings) -> Iterator[str]:
    if len(findings.controls) > 1:
        yield from ("", "## Positive controls beside each other")
        yield from _markdown_table(landed_table(findings.controls), "", "leakscale audit report")
    for control in findings.controls:
        name = control.control.name
        yield from ("", f"## Positive control {name}", "", *(f"- {words}" for words in control_words(control)))
        for table in control.tables:
            file = f"controls/{name}/numbers/{csv_name(table)}"
            yield from _markdown_table(table, file, f"leakscale audit positive-control {name}.toml")
    for left in findings.open_controls:
        yield from ("", f"Positive control {left.name}, registered {left.registered_at}: {left.words}.")
    if findings.pooled is not None:
        yield from ("", "## Positive controls together")
        for table in findings.pooled.tables:
            yield from _markdown_table(table, "", pool_command(findings))


def _markdown_entered(findings: AuditFindings) -> Iterator[str]:
    """Yield what the ledger has beside numbers: every amendment, and what each import overlooked."""
    if findings.amendments:
        yield from ("", "## Amendments", "")
        for each in findings.amendments:
            became = findings.became[each.variant]
            yield f"- Amendment {each.number}, {each.amended_at}: {_one_line(each.reason)} ({became})"
    if findings.imports:
        yield from ("", "## Imported logs", "")
        yield from (
            f"- `{each.file}`, of {_one_line(each.logged_model) or 'no model named'}: {_one_line(each.words)}"
            for each in findings.imports
        )


def _markdown_table(table: Table[Any], file: str, command: str) -> Iterator[str]:
    yield from ("", f"### {table.heading}", "")
    if table.withheld is not None:
        yield f"Withheld: {table.withheld}."
    else:
        headings, rows = table.cells
        if headings:
            yield _markdown_row(headings)
            yield _markdown_row(["---"] * len(headings))
            yield from map(_markdown_row, rows)
        if table.note:
            yield from ("", table.note)
    source = f"[{file}]({file}) · " if file else ""
    yield from ("", f"{source}made by `{command}`")


def _markdown_row(cells: Any) -> str:
    escaped = (str(cell).replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def _counted(count: int) -> str:
    return "One gap" if count == 1 else f"{count} gaps"


def _listed(models: Any) -> str:
    return ", ".join(models)


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _one_line(text: str) -> str:
    """Return somebody's words as they may stand in a line of Markdown: no line of its own, no link, no tag."""
    return re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", " ".join(text.split()))

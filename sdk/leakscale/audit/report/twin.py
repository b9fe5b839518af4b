"""The Markdown twin of a report: the same findings in a text that can be read, compared and quoted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from leakscale.audit.report.control_figures import landed_table
from leakscale.audit.report.findings import AuditFindings, csv_name, table_files
from leakscale.audit.report.trust import ASSURANCE, server_words
from leakscale.audit.report.words import caution, control_words, finding, pool_command
from leakscale.plain_text import markdown_code, markdown_text
from leakscale.tables import Table

__all__ = ["render_markdown"]


def render_markdown(findings: AuditFindings) -> str:
    """Return the report in Markdown; tables name the CSV files that hold them in full precision."""
    return "\n".join(_markdown(findings)) + "\n"


def _markdown(findings: AuditFindings) -> Iterator[str]:
    registration = findings.registration
    yield from (f"# {markdown_text(finding(findings))}", "", markdown_text(caution(findings)), "")
    yield (
        f"Audit {markdown_code(findings.name)} of {markdown_text(registration.plan.benchmark.id)}, locked "
        f"{registration.locked_at}, assurance level {registration.assurance_level}: "
        f"{ASSURANCE[registration.assurance_level]}"
    )
    if findings.origin is not None:
        yield from (
            "",
            *map(markdown_text, server_words(findings)),
            f"Server's key: `{findings.origin.server_key.hex()}`",
        )
    files = table_files(findings)
    for table in findings.analysis.tables:
        yield from _markdown_table(table, files[table.name], f"leakscale audit analyze {findings.folder}")
    yield from _markdown_controls(findings)
    for amendment, analysis in findings.amended:
        yield from (
            "",
            f"## Amendment {amendment.number}: {markdown_text(amendment.reason)}",
            "",
            "Beside, never instead.",
        )
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
        yield from ("", f"## Positive control {markdown_text(name)}", "")
        yield from (f"- {markdown_text(words)}" for words in control_words(control))
        for table in control.tables:
            file = f"controls/{name}/numbers/{csv_name(table)}"
            yield from _markdown_table(table, file, f"leakscale audit positive-control {name}.toml")
    for left in findings.open_controls:
        yield from ("", markdown_text(f"Positive control {left.name}, registered {left.registered_at}: {left.words}."))
    if findings.pooled is not None:
        yield from ("", "## Positive controls together")
        for table in findings.pooled.tables:
            yield from _markdown_table(table, "", pool_command(findings))


def _markdown_entered(findings: AuditFindings) -> Iterator[str]:
    """Yield what the ledger has beside numbers: every amendment, and what each import overlooked."""
    if findings.amendments:
        yield from ("", "## Amendments", "")
        for each in findings.amendments:
            words = f"Amendment {each.number}, {each.amended_at}: {each.reason} ({findings.became[each.variant]})"
            yield f"- {markdown_text(words)}"
    if findings.imports:
        yield from ("", "## Imported logs", "")
        yield from (
            f"- {markdown_code(each.file)}, of {markdown_text(each.logged_model or 'no model named')}: "
            f"{markdown_text(each.words, keeps_code=True)}"
            for each in findings.imports
        )


def _markdown_table(table: Table[Any], file: str, command: str) -> Iterator[str]:
    yield from ("", f"### {markdown_text(table.heading)}", "")
    if table.withheld is not None:
        yield f"Withheld: {markdown_text(table.withheld, keeps_code=True)}."
    else:
        headings, rows = table.cells
        if headings:
            yield _markdown_row(headings)
            yield _markdown_row(["---"] * len(headings))
            yield from map(_markdown_row, rows)
        if table.note:
            yield from ("", markdown_text(table.note, keeps_code=True))
    source = f"[{file}]({file}) · " if file else ""
    yield from ("", f"{source}made by {markdown_code(command)}")


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(markdown_text, cells))} |"

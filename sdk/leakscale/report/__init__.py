"""A finding as people read it: one HTML file, its figures, one table in the terminal.

`write_report` and `write_figures` need the extra `report` (jinja2, matplotlib); the table needs nothing but rich.
"""

from leakscale.report.figures import study_figures
from leakscale.report.findings import Findings, read_findings
from leakscale.report.html import write_report
from leakscale.report.page import write_figures
from leakscale.report.provenance import StudyProvenance, provenance_from_json, provenance_to_json
from leakscale.report.study import DISCLOSURE_FILE, PROVENANCE_FILE, read_disclosure, read_provenance
from leakscale.report.summary import render_summary_table, summary_text
from leakscale.report.words import finding

__all__ = [
    "DISCLOSURE_FILE",
    "PROVENANCE_FILE",
    "Findings",
    "StudyProvenance",
    "finding",
    "provenance_from_json",
    "provenance_to_json",
    "read_disclosure",
    "read_findings",
    "read_provenance",
    "render_summary_table",
    "study_figures",
    "summary_text",
    "write_figures",
    "write_report",
]

"""A finding as people read it: one HTML file, one table in the terminal.

`write_report` needs the extra `report` (jinja2); the table needs nothing but rich.
"""

from leakscale.report.html import write_report
from leakscale.report.provenance import StudyProvenance, provenance_from_json, provenance_to_json
from leakscale.report.study import DISCLOSURE_FILE, PROVENANCE_FILE, read_disclosure, read_provenance
from leakscale.report.summary import render_summary_table, summary_text
from leakscale.report.words import finding

__all__ = [
    "DISCLOSURE_FILE",
    "PROVENANCE_FILE",
    "StudyProvenance",
    "finding",
    "provenance_from_json",
    "provenance_to_json",
    "read_disclosure",
    "read_provenance",
    "render_summary_table",
    "summary_text",
    "write_report",
]

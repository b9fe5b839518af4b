"""The report of an audit: one HTML file and its Markdown twin, each number with the file and the command behind it.

    findings = read_audit_findings(AuditDirectory.existing(Path("gsm8k")))
    write_audit_report(findings)

Source: CleanScore, Figures 5 to 15 where they apply.
"""

from leakscale.audit.report.figures import audit_figures
from leakscale.audit.report.findings import AuditFindings, read_audit_findings
from leakscale.audit.report.writing import render_audit_report, write_audit_report

__all__ = ["AuditFindings", "audit_figures", "read_audit_findings", "render_audit_report", "write_audit_report"]

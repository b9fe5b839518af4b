"""The numbers of an audit: every table of the CleanScore paper that its scores allow.

panel = Panel.of([ScoreTable.from_jsonl(path)], controls)
print(analyze_panel(panel, AuditSettings(FinitePopulationDesign(1319), InferenceTable())).table("3"))
"""

from leakscale.audit.analysis.analysis import AuditAnalysis, analyze_panel
from leakscale.audit.analysis.filing import analyze_audit
from leakscale.audit.analysis.panel import AuditSettings, ModelScores, Panel

__all__ = ["AuditAnalysis", "AuditSettings", "ModelScores", "Panel", "analyze_audit", "analyze_panel"]

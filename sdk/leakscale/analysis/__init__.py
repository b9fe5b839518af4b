"""The results section of an experiment, computed from its results: every table with its intervals.

`read_results` takes Parquet or JSON lines, `join_banks` answered banks with the keys of their families,
`analyze_results` computes the tables, `Analysis` prints and writes them.
`leakscale.analysis.synthetic` makes an experiment of the paper's size with planted effects.
"""

from leakscale.analysis.analysis import Analysis, analyze_results
from leakscale.analysis.joining import AnsweredBank, FamilyKey, join_banks
from leakscale.analysis.plan import AnalysisPlan, Identities, ReleasePolicy
from leakscale.analysis.result_files import read_results, write_results
from leakscale.analysis.result_table import LabelColumn, ResultTable
from leakscale.tables import Table, TableHead

__all__ = [
    "Analysis",
    "AnalysisPlan",
    "AnsweredBank",
    "FamilyKey",
    "Identities",
    "LabelColumn",
    "ReleasePolicy",
    "ResultTable",
    "Table",
    "TableHead",
    "analyze_results",
    "join_banks",
    "read_results",
    "write_results",
]

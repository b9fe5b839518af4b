"""The results section of an experiment, computed from its results: every table with its intervals.

`read_results` takes Parquet or JSON lines, `analyze_results` computes the tables, `Analysis` prints and writes them.
`leakscale.analysis.synthetic` makes an experiment of the paper's size with planted effects.
"""

from leakscale.analysis.analysis import Analysis, analyze_results
from leakscale.analysis.plan import AnalysisPlan, Identities, ReleasePolicy
from leakscale.analysis.result_files import read_results, write_results
from leakscale.analysis.result_table import LabelColumn, ResultTable
from leakscale.analysis.table import Table, TableHead

__all__ = [
    "Analysis",
    "AnalysisPlan",
    "Identities",
    "LabelColumn",
    "ReleasePolicy",
    "ResultTable",
    "Table",
    "TableHead",
    "analyze_results",
    "read_results",
    "write_results",
]

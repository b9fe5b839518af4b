"""Scores from logs that exist already: inspect_ai, lm-evaluation-harness, CSV and Parquet.

    from leakscale.audit.importers import LogPaths, Selection, import_scores

    imported = import_scores(LogPaths(public, fresh=(first, second)), Selection("match"), bank=bank)

Nothing is guessed: metric and filter are named, and logs whose forms were not asked alike are refused.
"""

from leakscale.audit.importers.building import Imported, ImportOptions, import_scores
from leakscale.audit.importers.columns import LogPaths
from leakscale.audit.importers.models import EvaluationLog, LoggedAnswer, PairingRule, Selection, Setting
from leakscale.audit.importers.pairing import Difference
from leakscale.audit.importers.reading import read_log
from leakscale.audit.importers.saving import import_record, save_import

__all__ = [
    "Difference",
    "EvaluationLog",
    "ImportOptions",
    "Imported",
    "LogPaths",
    "LoggedAnswer",
    "PairingRule",
    "Selection",
    "Setting",
    "import_record",
    "import_scores",
    "read_log",
    "save_import",
]

"""Read a log of whatever wrote it; the name of the file decides."""

from __future__ import annotations

from pathlib import Path

from leakscale.audit.importers.inspect_logs import read_inspect_log
from leakscale.audit.importers.lm_eval_logs import read_lm_eval_log
from leakscale.audit.importers.models import EvaluationLog, Selection
from leakscale.audit.importers.table_logs import read_table
from leakscale.errors import InvalidRequestError, NotFoundError

__all__ = ["read_log"]

_READERS = {
    ".eval": read_inspect_log,
    ".json": read_inspect_log,
    ".jsonl": read_lm_eval_log,
    ".csv": read_table,
    ".parquet": read_table,
}


def read_log(path: Path, selection: Selection) -> EvaluationLog:
    """Read a log or a table of scores.

    Raises:
        NotFoundError: If there is no such file.
        InvalidRequestError: If the file is malformed, or what was selected is not in it.
    """
    if not path.is_file():
        raise NotFoundError(f"log '{path}' does not exist; pass {', '.join(_READERS)}")
    reader = _READERS.get(path.suffix)
    if reader is None:
        raise InvalidRequestError(f"log '{path}' ends in {path.suffix!r}; pass {', '.join(_READERS)}")
    return reader(path, selection)

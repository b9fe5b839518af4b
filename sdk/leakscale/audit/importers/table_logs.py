"""Scores in a table, CSV or Parquet, one answer a row, or one parent a row and a column a form.

Columns with these names say what a log would: `prompt`, `text`, `epoch`, `status`, `model`, `template`,
`fewshot_count`. The metric names the column of the score. A table whose columns are named `original`, `fresh-1` ... has
a parent a row; there the metric is a name only.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from leakscale.audit.importers.fields import field_of, readable
from leakscale.audit.importers.marks import score_of
from leakscale.audit.importers.models import EvaluationLog, LoggedAnswer, PairingRule, Selection, Setting
from leakscale.audit.parquet import parquet_rows
from leakscale.audit.scores import ScoreSource
from leakscale.errors import InvalidRequestError

__all__ = ["read_table"]

_FORM: Final = re.compile(r"original|(?:fresh|deep)-[1-9]\d*")
_DECLARED: Final = {
    "template": PairingRule.PROMPT_TEMPLATE,
    "fewshot_count": PairingRule.FEW_SHOT_COUNT,
    "model": PairingRule.MODEL,
}
_GOOD: Final = frozenset({"", "success", "ok", "completed"})


def read_table(path: Path, selection: Selection) -> EvaluationLog:
    """Read scores from a table.

    Raises:
        InvalidRequestError: If the file is no table, or has no such column.
    """
    if selection.filter:
        raise InvalidRequestError(f"table '{path}': filter '{selection.filter}' is named, and a table has none")
    with readable(f"table '{path}'", "table that this version reads"):
        rows = list(parquet_rows(path, subject=f"table '{path}'") if path.suffix == ".parquet" else _csv_rows(path))
    if not rows:
        raise InvalidRequestError(f"table '{path}' has no row; write an answer a row")
    wide = [name for name in rows[0] if _FORM.fullmatch(name)]
    answers: list[LoggedAnswer] = []
    for number, row in enumerate(rows, start=1):
        subject = f"table '{path}', row {number}"
        answers += _melted(row, wide, selection, subject) if wide else [_answer(row, selection, subject)]
    models = {str(row["model"]) for row in rows if row.get("model")}
    return EvaluationLog(
        path=path,
        source=ScoreSource.of(path),
        writer="table",
        model=models.pop() if len(models) == 1 else "",
        settings=(Setting(PairingRule.STATUS, "status", "success"),),
        answers=tuple(answers),
    )


def _answer(row: Mapping[str, Any], selection: Selection, subject: str) -> LoggedAnswer:
    if selection.metric not in row:
        raise InvalidRequestError(
            f"{subject} has no column '{selection.metric}', only {', '.join(row)}; name one as the metric"
        )
    key = field_of(row, selection.key or "id", subject=subject)
    if selection.form_key:
        key = f"{key}/{field_of(row, selection.form_key, subject=subject)}"
    score, failure = _score(row, row[selection.metric], subject)
    return LoggedAnswer(
        key=key,
        score=score,
        failure=failure,
        epoch=_epoch(row, subject),
        prompt=_words(row, "prompt", subject),
        text=_words(row, selection.text_key or "text", subject),
        settings=tuple(_declared(row)),
    )


def _melted(row: Mapping[str, Any], forms: list[str], selection: Selection, subject: str) -> Iterator[LoggedAnswer]:
    key = field_of(row, selection.key or "id", subject=subject)
    for form in forms:
        score, failure = _score(row, row[form], f"{subject}, column '{form}'")
        yield LoggedAnswer(f"{key}/{form}", score, failure, settings=tuple(_declared(row)))


def _score(row: Mapping[str, Any], value: Any, subject: str) -> tuple[float | None, str]:
    status = str(row.get("status") or "").strip()
    if status.lower() not in _GOOD:
        return None, f"status {status}"
    score = score_of(value, subject=subject)
    return score, "" if score is not None else "no score"


def _epoch(row: Mapping[str, Any], subject: str) -> int:
    value = row.get("epoch")
    if value is None or value == "":
        return 1
    try:
        return int(value)
    except (OverflowError, TypeError, ValueError) as error:
        raise InvalidRequestError(f"{subject}: epoch is {value!r}; an epoch is a whole number") from error


def _words(row: Mapping[str, Any], name: str, subject: str) -> str | None:
    value = row.get(name)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise InvalidRequestError(
            f"{subject}: column '{name}' is {str(value)[:40]!r}, a {type(value).__name__}; give text"
        )
    return value


def _declared(row: Mapping[str, Any]) -> Iterator[Setting]:
    for name, rule in _DECLARED.items():
        if row.get(name) not in (None, ""):
            yield Setting(rule, name, str(row[name]))


def _csv_rows(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            names = reader.fieldnames or []
            if len(set(names)) < len(names):
                twice = next(name for name in names if names.count(name) > 1)
                raise InvalidRequestError(f"table '{path}': column '{twice}' comes twice; name each column once")
            for number, row in enumerate(reader, start=1):
                if None in row or None in row.values():
                    raise InvalidRequestError(f"table '{path}', row {number}: it has not {len(names)} fields; mend it")
                yield row
    except (UnicodeDecodeError, csv.Error) as error:
        what = "a quote is opened and not closed" if "unexpected end" in str(error) else str(error)
        raise InvalidRequestError(f"table '{path}' is no CSV in UTF-8: {what}; write it again") from error

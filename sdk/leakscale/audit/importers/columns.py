"""From logs to the answers of each form: which log holds the originals, which a fresh form, which all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from leakscale.audit.forms.models import FormKind, FormName
from leakscale.audit.importers.models import EvaluationLog, LoggedAnswer, Setting
from leakscale.errors import InvalidRequestError

__all__ = ["ORIGINAL", "Column", "FormColumn", "LogPaths", "columns_of"]

_FORM_KEY: Final = re.compile(r"(?P<parent>.+)/(?P<kind>original|fresh|deep)(?:-(?P<number>[1-9]\d{0,2}))?")


@dataclass(frozen=True, slots=True)
class LogPaths:
    """Which file holds the answers to which form."""

    original: Path | None = None
    fresh: tuple[Path, ...] = ()
    """One a fresh form, in their order."""
    deep: tuple[Path, ...] = ()
    together: tuple[Path, ...] = ()
    """Logs whose keys name the form as well: `p1/original`, `p1/fresh-2`."""

    def all(self) -> Iterator[tuple[Path, Column | None]]:
        """Yield each file with the form it holds; None where its keys say."""
        if self.original is not None:
            yield self.original, ORIGINAL
        for kind, paths in ((FormKind.FRESH, self.fresh), (FormKind.DEEP, self.deep)):
            for number, path in enumerate(paths, start=1):
                yield path, Column(kind, number)
        for path in self.together:
            yield path, None


class Column(NamedTuple):
    """Which form a column of a table of scores holds."""

    kind: FormKind
    number: int

    def __str__(self) -> str:
        return str(self.kind) if self.kind is FormKind.ORIGINAL else f"{self.kind}-{self.number}"


ORIGINAL: Final = Column(FormKind.ORIGINAL, 0)


@dataclass(slots=True)
class FormColumn:
    """All answers to one form of every parent."""

    column: Column
    log: EvaluationLog
    answers: dict[str, list[LoggedAnswer]] = field(default_factory=dict)
    """By parent, in the order of the log; several where a form was asked in several epochs."""

    def name(self, parent_id: str) -> FormName:
        """Return the name of this form of a parent."""
        return FormName(parent_id, *self.column)

    def settings(self) -> Mapping[str, Setting]:
        """Return what the log declares of these answers, by name.

        Raises:
            InvalidRequestError: If it says one thing of one answer and another of the next.
        """
        found = dict(self.log.settings_by_name())
        for parent_id, answers in self.answers.items():
            for setting in (setting for answer in answers for setting in answer.settings):
                first = found.setdefault(setting.name, setting)
                if first.value != setting.value:
                    raise InvalidRequestError(
                        f"log '{self.log.path}': {setting.rule}: '{setting.name}' is {setting.value!r} for form "
                        f"'{self.name(parent_id)}' and {first.value!r} before; answer a form under one setting"
                    )
        return found


def columns_of(logs: Iterable[tuple[EvaluationLog, Column | None]]) -> dict[Column, FormColumn]:
    """Sort the answers of logs by form.

    Raises:
        InvalidRequestError: If a key names no form where it should, a log is passed as two forms, a form stands in two
            logs or is answered twice in one epoch, or the forms are not the original and fresh forms from 1 on.
    """
    columns: dict[Column, FormColumn] = {}
    named: dict[str, Column] = {}
    for log, column in logs:
        if column is not None and (first := named.setdefault(log.source.sha256, column)) != column:
            raise InvalidRequestError(
                f"log '{log.path}' is passed as form {first} and as form {column}; pass the log of each form once"
            )
        for answer in log.answers:
            parent_id, place = (answer.key, column) if column else _placed(answer.key, log)
            form = columns.setdefault(place, FormColumn(place, log))
            if form.log is not log:
                raise InvalidRequestError(
                    f"form {place} stands in '{form.log.path}' and in '{log.path}'; pass one log a form"
                )
            _add(form, parent_id, answer)
    _check_complete(list(columns))
    return columns


def _placed(key: str, log: EvaluationLog) -> tuple[str, Column]:
    match = _FORM_KEY.fullmatch(key)
    if match is None or (match["kind"] == FormKind.ORIGINAL) == bool(match["number"]):
        raise InvalidRequestError(
            f"log '{log.path}': key '{key}' names no form; in a log of several forms a key reads p1/original or "
            "p1/fresh-2, or a field of its own names the form (--form-key)"
        )
    return match["parent"], Column(FormKind(match["kind"]), int(match["number"] or 0))


def _add(form: FormColumn, parent_id: str, answer: LoggedAnswer) -> None:
    answers = form.answers.setdefault(parent_id, [])
    if any(each.epoch == answer.epoch for each in answers):
        raise InvalidRequestError(
            f"log '{form.log.path}': form '{form.name(parent_id)}' is answered twice in epoch {answer.epoch}; an id "
            "stands for one item, so name the field that tells items apart (--key)"
        )
    answers.append(answer)


def _check_complete(columns: Sequence[Column]) -> None:
    if ORIGINAL not in columns:
        raise InvalidRequestError("form original has no log; pass the log of the benchmark itself (--original)")
    for kind in (FormKind.FRESH, FormKind.DEEP):
        numbers = sorted(column.number for column in columns if column.kind is kind)
        if kind is FormKind.FRESH and not numbers:
            raise InvalidRequestError("form fresh-1 has no log; a gap needs at least one fresh form (--fresh)")
        if missing := set(range(1, len(numbers) + 1)) - set(numbers):
            raise InvalidRequestError(f"form {kind}-{min(missing)} has no log, and {kind}-{numbers[-1]} has one")

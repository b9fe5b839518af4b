"""The sample that logs are to answer, and one score for each of its forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leakscale.audit.forms.models import FormBank, FormKind, Parent
from leakscale.audit.importers.columns import ORIGINAL, Column, FormColumn
from leakscale.audit.scores import ScoreKind, form_columns
from leakscale.errors import InvalidRequestError

__all__ = ["Sample", "form_scores"]


@dataclass(frozen=True, slots=True)
class Sample:
    """Which parents and which of their forms should have a score."""

    parent_ids: tuple[str, ...]
    columns: tuple[Column, ...]
    fresh_count: int
    strata: tuple[str, ...] = ()
    unwritten: frozenset[tuple[str, Column]] = frozenset()
    """Places of the bank without a form; nobody could be asked it."""

    @classmethod
    def of(cls, columns: Mapping[Column, FormColumn], bank: FormBank | None) -> Sample:
        """Take parents and forms from the bank; without one, the parents from the log of the original.

        Deep paraphrases belong to the sample only where a log holds them.

        Raises:
            InvalidRequestError: If there are more forms in logs than in the bank.
        """
        fresh_count = sum(column.kind is FormKind.FRESH for column in columns)
        deep_count = sum(column.kind is FormKind.DEEP for column in columns)
        if bank is None:
            places = tuple(Column(*each) for each in form_columns(fresh_count, deep_count))
            return cls(tuple(columns[ORIGINAL].answers), places, fresh_count)
        if fresh_count > bank.fresh_count:
            raise InvalidRequestError(
                f"form fresh-{bank.fresh_count + 1} has a log, and the bank has {bank.fresh_count} fresh forms a "
                "parent; pass the bank that was asked"
            )
        places = tuple(Column(*each) for each in form_columns(bank.fresh_count, deep_count))
        strata = tuple(parent.stratum for parent in bank.parents)
        return cls(
            parent_ids=tuple(parent.parent_id for parent in bank.parents),
            columns=places,
            fresh_count=bank.fresh_count,
            strata=strata if any(strata) else (),
            unwritten=frozenset(
                (parent.parent_id, place)
                for parent in bank.parents
                for place in places
                if not _is_written(parent, place)
            ),
        )


def form_scores(
    columns: Mapping[Column, FormColumn], sample: Sample, *, kind: ScoreKind, is_missing_allowed: bool
) -> NDArray[np.float64]:
    """Return scores of shape (parents, forms), NaN where there is none.

    The score of a form that was asked in several epochs is the mean over them; a form one of whose answers failed has
    none.

    Raises:
        InvalidRequestError: If a form has no score and that is not allowed, or numbers of epochs do not fit.
    """
    _check_answered(columns, sample, is_missing_allowed=is_missing_allowed)
    scores = np.full((len(sample.parent_ids), len(sample.columns)), np.nan)
    for place, column in enumerate(sample.columns):
        if column in columns:
            form = columns[column]
            for row, parent_id in enumerate(sample.parent_ids):
                if parent_id in form.answers and (parent_id, column) not in sample.unwritten:
                    _check_epochs(form, columns[ORIGINAL], parent_id, kind)
                    scores[row, place] = _mean(form, parent_id)
    return scores


def _mean(form: FormColumn, parent_id: str) -> float:
    found = [answer.score for answer in form.answers[parent_id]]
    scores = [score for score in found if score is not None]
    return sum(scores) / len(scores) if len(scores) == len(found) else np.nan


def _check_answered(columns: Mapping[Column, FormColumn], sample: Sample, *, is_missing_allowed: bool) -> None:
    for column in sample.columns:
        if column not in columns:
            raise InvalidRequestError(f"form {column} has no log, and the bank has such a form; pass its log")
        form = columns[column]
        wanted = [each for each in sample.parent_ids if (each, column) not in sample.unwritten]
        absent = [each for each in wanted if each not in form.answers]
        failed = [each for each in wanted if any(answer.failure for answer in form.answers.get(each, ()))]
        if wanted and len(absent) == len(wanted):
            raise InvalidRequestError(
                f"log '{form.log.path}' answers no parent of the sample in form {column}: its ids read "
                f"'{next(iter(form.answers), '')}', the sample's '{sample.parent_ids[0]}'; name the field that holds "
                "them (--key)"
            )
        if absent and not is_missing_allowed:
            raise InvalidRequestError(
                f"log '{form.log.path}': form '{form.name(absent[0])}' is missing ({len(absent):,} of {len(wanted):,} "
                "are); answer them, or pass --allow-missing to leave them out"
            )
        if failed and not is_missing_allowed:
            reason = next(answer.failure for answer in form.answers[failed[0]] if answer.failure)
            raise InvalidRequestError(
                f"log '{form.log.path}': form '{form.name(failed[0])}' failed ({reason}), {len(failed):,} of "
                f"{len(wanted):,} did; run them again, or pass --allow-missing to leave them out"
            )


def _check_epochs(form: FormColumn, original: FormColumn, parent_id: str, kind: ScoreKind) -> None:
    count = len(form.answers[parent_id])
    if count > 1 and kind is ScoreKind.CORRECT:
        raise InvalidRequestError(
            f"log '{form.log.path}': form '{form.name(parent_id)}' is answered {count} times; pass --kind graded to "
            "take the mean"
        )
    expected = len(original.answers.get(parent_id, ()))
    if expected and count != expected:
        raise InvalidRequestError(
            f"log '{form.log.path}': form '{form.name(parent_id)}' is answered {count} times and its original "
            f"{expected} times; answer all forms equally often"
        )


def _is_written(parent: Parent, column: Column) -> bool:
    if column == ORIGINAL:
        return True
    forms = parent.fresh if column.kind is FormKind.FRESH else parent.deep
    return column.number <= len(forms) and forms[column.number - 1] is not None

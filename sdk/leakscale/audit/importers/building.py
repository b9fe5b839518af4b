"""From logs to one table of scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial

from leakscale.audit.forms.models import FormBank
from leakscale.audit.importers.columns import ORIGINAL, Column, FormColumn, LogPaths, columns_of
from leakscale.audit.importers.form_scores import Sample, form_scores
from leakscale.audit.importers.models import LoggedAnswer, Selection
from leakscale.audit.importers.pairing import Difference, check_pairing
from leakscale.audit.importers.prompts import check_prompts
from leakscale.audit.importers.reading import read_log
from leakscale.audit.importers.targets import check_targets
from leakscale.audit.scores import ScoreKind, ScoreTable
from leakscale.errors import InvalidRequestError

__all__ = ["ImportOptions", "Imported", "import_scores"]


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What an importer may overlook. Each is said in the notes of the import."""

    may_differ: frozenset[str] = frozenset()
    """Settings that logs may declare differently."""
    is_missing_allowed: bool = False
    """Leave out forms without a score. That is harmless only if they are missing for reasons that have nothing to do
    with the answer, which a model that failed rarely does."""
    are_prompts_trusted: bool = False
    """Do not hold the prompts of a parent's forms against each other."""


@dataclass(frozen=True, slots=True)
class Imported:
    """Scores, and what a reader has to know about them."""

    table: ScoreTable
    logged_model: str
    """Name that the log gives the model; the table may have been given another."""
    writers: tuple[str, ...]
    """What wrote the logs, e.g. `inspect_ai 0.3.285`."""
    allowed: tuple[Difference, ...]
    """Settings that differed and were allowed to."""
    unused_count: int
    """Answers to items that are not in the bank; without one, not in the log of the original."""
    truncated: Mapping[str, int]
    """Answers cut at a limit, by form, where there are any."""
    are_prompts_trusted: bool = False
    """Whether the prompts of a parent's forms were not held against each other."""
    oddities: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """How many answers by form are so, by what they are, e.g. `asked again after an answer`."""
    remarks: tuple[str, ...] = ()
    """What an audit says of the log's model."""

    def notes(self) -> list[str]:
        """Return what was overlooked, one sentence each."""
        notes = [*self.remarks, *(f"{difference} (allowed)" for difference in self.allowed)]
        if self.unused_count:
            notes.append(f"{self.unused_count:,} answers are to items outside the sample and were not used")
        for form, count in self.truncated.items():
            notes.append(
                f"{count:,} of {len(self.table.parent_ids):,} answers to form {form} were cut at a limit; a cut answer "
                "may count as wrong"
            )
        for oddity, counts in self.oddities.items():
            told = ", ".join(f"{count:,} of form {form}" for form, count in counts.items())
            if told:
                notes.append(f"answers that were {oddity}: {told}")
        if missing := sum(1 for _ in self.table.missing()):
            notes.append(
                f"forms without a score: {missing:,}; their parents count with the forms that are left, or not"
            )
        if self.are_prompts_trusted:
            files = ", ".join(source.name for source in self.table.sources)
            notes.append(f"the prompts of a parent's forms were not compared ({files})")
        if len(self.writers) > 1:
            notes.append(f"the logs were written by different versions: {', '.join(self.writers)}")
        return notes


def import_scores(
    paths: LogPaths,
    selection: Selection,
    *,
    bank: FormBank | None = None,
    kind: ScoreKind = ScoreKind.CORRECT,
    model: str = "",
    state: str = "base",
    options: ImportOptions | None = None,
) -> Imported:
    """Read logs, refuse what cannot be paired, and put the scores into draw order.

    Args:
        paths: Which file holds which form.
        selection: Which number is the score, which field the id.
        bank: Forms that were asked, in draw order. Without it the original's log decides the order, and nothing is
            known of the forms that were to be asked.
        kind: Range of the scores; `graded` also for the mean over several epochs.
        model: Name of the model; empty: the one that the log gives.
        state: State of the model, e.g. `base`.
        options: What may be overlooked; nothing by default.

    Raises:
        NotFoundError: If a file does not exist.
        InvalidRequestError: If a log is malformed, incomplete, or cannot be paired with the others.
    """
    options = options or ImportOptions()
    # 1. Read each file once, even if it is named for two forms.
    read = cache(lambda path: read_log(path, selection))
    columns = columns_of((read(path), column) for path, column in paths.all())
    # 2. What logs declare.
    allowed = check_pairing(columns, may_differ=options.may_differ, is_missing_allowed=options.is_missing_allowed)
    # 3. Which forms there should be, and whether each has one score.
    sample = Sample.of(columns, bank)
    scores = form_scores(columns, sample, kind=kind, is_missing_allowed=options.is_missing_allowed)
    # 4. What the answers were scored against, and what the model was shown.
    check_targets(columns, sample.parent_ids, may_differ=options.may_differ)
    if not options.are_prompts_trusted:
        check_prompts(columns, sample.parent_ids, bank)
    # 5. The table.
    log = columns[ORIGINAL].log
    if not (model or log.model):
        raise InvalidRequestError(f"log '{log.path}' names no model, or several; name it (--model)")
    logs = {form.log.path: form.log for form in columns.values()}
    table = ScoreTable(
        model=model or log.model,
        kind=kind,
        metric=selection.label,
        parent_ids=sample.parent_ids,
        scores=scores,
        fresh_count=sample.fresh_count,
        strata=sample.strata,
        state=state,
        bank_digest="" if bank is None else bank.digest,
        sources=tuple(dict.fromkeys(source for each in logs.values() for source in (each.source, *each.companions))),
    )
    return Imported(
        table=table,
        logged_model=log.model,
        writers=tuple(dict.fromkeys(each.writer for each in logs.values())),
        allowed=tuple(allowed),
        unused_count=sum(len(form.answers.keys() - set(sample.parent_ids)) for form in columns.values()),
        truncated=_counted(columns, sample, lambda answer: answer.is_truncated),
        oddities={
            oddity: _counted(columns, sample, partial(_is_odd, oddity)) for oddity in _oddities(columns.values())
        },
        are_prompts_trusted=options.are_prompts_trusted,
    )


def _counted(
    columns: Mapping[Column, FormColumn], sample: Sample, holds: Callable[[LoggedAnswer], bool]
) -> dict[str, int]:
    """Return of how many parents of the sample an answer is so, by form, where there are any."""
    counts = {
        str(column): sum(
            any(holds(answer) for answer in columns[column].answers.get(parent_id, ()))
            for parent_id in sample.parent_ids
        )
        for column in sample.columns
        if column in columns
    }
    return {form: count for form, count in counts.items() if count}


def _oddities(columns: Iterable[FormColumn]) -> list[str]:
    answers = (answer for form in columns for found in form.answers.values() for answer in found)
    return sorted({oddity for answer in answers for oddity in answer.oddities})


def _is_odd(oddity: str, answer: LoggedAnswer) -> bool:
    return oddity in answer.oddities

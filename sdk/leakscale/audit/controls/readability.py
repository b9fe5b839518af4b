"""Whether the audit's own scorer reads what a positive control plants, asked before anything is trained.

The paper's Study 4 planted a letter and measured a sentence: `Answer: A` was trained, and the scorer ranked the texts
of the options. The training loss fell as if all were well, and the leak lowered the score it was to raise. So a planted
completion is put to the scorer as an answer, exactly as if the model had given it; what does not score as right would
not show as a leak.

What this does not see: whether the prompt of a record brings the answer up when the scorer asks. That is what the
manipulation check is for.

Source: CleanScore 7.12, 7.13.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from leakscale.audit.answering.answers import FormAnswer
from leakscale.audit.answering.asks import Ask
from leakscale.audit.forms.models import Criterion, Form, FormName
from leakscale.audit.registration.plan import AuditPlan
from leakscale.audit.scoring.answers import is_right
from leakscale.audit.scoring.numbers import NumericParser
from leakscale.errors import InvalidRequestError
from leakscale.inference.forms import Generated, OptionScore
from leakscale.models import TrainingRecord

__all__ = ["Leak", "is_read", "require_readable"]

_LEARNED: Final = OptionScore(0.0, 1)
"""The planted text once it is known by heart."""
_UNLEARNED: Final = OptionScore(-1e6, 1)
_SHOWN_MAX: Final = 60


@dataclass(frozen=True, slots=True)
class Leak:
    """A form that is to be leaked, and how the audit asks and judges it."""

    name: FormName
    form: Form
    criterion: Criterion
    ask: Ask


def require_readable(record: TrainingRecord, leak: Leak, plan: AuditPlan, *, subject: str) -> None:
    """Refuse a record whose completion, given as an answer, the audit would not score as right.

    Args:
        record: What is to be planted.
        leak: The form whose answer it is.
        plan: Of the audit.
        subject: What the leak is of, for the message, e.g. `control 'exact'`.

    Raises:
        InvalidRequestError: The message names record, what is planted, what the scorer reads, and the next step.
    """
    if not is_read(record.completion, leak, plan):
        parser = NumericParser(plan.scoring.parser_formats)
        raise InvalidRequestError(
            f"{subject}: record '{record.record_id}' plants {_shown(record.completion)}, which the audit "
            f"would not score as right: {_reads(leak, parser, record.completion)}; nothing was trained"
        )


def is_read(completion: str, leak: Leak, plan: AuditPlan) -> bool:
    """Tell whether the audit's scorer finds a completion right, given as the model's whole answer."""
    answer, scoring = _as_answer(completion, leak), plan.scoring
    parser = NumericParser(scoring.parser_formats)
    return answer is not None and is_right(
        answer, leak.form, leak.criterion, parser=parser, choice_score=scoring.choice_score
    )


def _as_answer(completion: str, leak: Leak) -> FormAnswer | None:
    """Return what a model answers that says the completion and nothing else; None where the scorer never sees it."""
    form, options = str(leak.name), leak.ask.options
    if not options:
        return FormAnswer(form, 0, is_rerun=False, generated=Generated(completion, 1, is_cut_off=False, confidence=0.0))
    if completion not in options:
        return None
    scores = tuple(_LEARNED if option == completion else _UNLEARNED for option in options)
    return FormAnswer(form, 0, is_rerun=False, generated=None, options=scores)


def _reads(leak: Leak, parser: NumericParser, completion: str) -> str:
    """Say what the scorer reads, what it makes of the completion, and what to write instead."""
    form = leak.form
    if leak.criterion is Criterion.CHOICE:
        pairs = zip(leak.ask.options, form.options, strict=True)
        right = next(text for text, option in pairs if option.label == form.gold)
        return f"it ranks the texts of the options, here {_shown(right)}; write exposure.completion = ' {{option}}'"
    if leak.criterion is Criterion.NUMERIC:
        parsed = parser.parse(completion)
        found = "no number" if parsed.value is None else f"{parsed.value} ({parsed.format})"
        formats = ", ".join(parser.formats)
        return f"its parser ({formats}) reads {found}, gold is {form.gold}; let exposure.completion end with {{gold}}"
    return f"it compares the whole answer with {_shown(form.gold)}; write exposure.completion = '{{gold}}'"


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}…")

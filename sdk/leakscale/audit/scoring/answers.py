"""From answers to scores: right or wrong by the form's criterion, and how sure the model was.

Source: CleanScore 7.1 (numeric match; character-normalized log-probability, the raw sum as secondary) and 7.6 (mean
log-probability a token of the greedy continuation, or of the chosen option).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean

from leakscale.audit.answering.answers import FormAnswer
from leakscale.audit.forms.models import Criterion, Form, FormBank, FormName
from leakscale.audit.registration.fields import ScoringTable
from leakscale.audit.scores import ScoreKind, ScoreTable
from leakscale.audit.scoring.numbers import NumericParser
from leakscale.errors import InvalidRequestError

__all__ = ["ScoredAnswers", "accuracy_table", "chosen_option", "is_right", "score_answers", "score_confidence"]


@dataclass(frozen=True, slots=True)
class ScoredAnswers:
    """The tables that one run of answers makes."""

    accuracy: ScoreTable
    confidence: ScoreTable | None
    """None where the engine gives no log-probabilities."""


def score_answers(
    bank: FormBank, answers: Iterable[FormAnswer], settings: ScoringTable, *, model: str, state: str = "base"
) -> ScoredAnswers:
    """Score every form of a bank; one without an answer gets no score.

    Args:
        bank: The bank that was answered, with its golds.
        answers: In any order; answers to questions asked again are left out.
        settings: The registered parser and choice score.
        model: As the registration names it.
        state: State of the model.

    Raises:
        InvalidRequestError: If the bank's golds are withheld.
    """
    if not bank.has_golds:
        raise InvalidRequestError("the bank's golds are withheld; only whoever has them can score answers")
    first = [answer for answer in answers if not answer.is_rerun]
    right: defaultdict[FormName, list[bool]] = defaultdict(list)
    forms = {str(name): (name, form, parent.criterion) for parent in bank.parents for name, form in parent.forms()}
    parser = NumericParser(settings.parser_formats)
    for answer in first:
        name, form, criterion = forms[answer.form]
        right[name].append(is_right(answer, form, criterion, parser=parser, choice_score=settings.choice_score))
    accuracy = accuracy_table(bank, right, settings, model=model, state=state)
    return ScoredAnswers(accuracy, score_confidence(bank, first, settings, model=model, state=state))


def accuracy_table(
    bank: FormBank,
    right: Mapping[FormName, list[bool]],
    settings: ScoringTable,
    *,
    model: str,
    state: str = "base",
) -> ScoreTable:
    """Put together which answers were right.

    Args:
        bank: The bank that was answered.
        right: Of each form, whether each of its answers is right; a form that is not there gets no score.
        settings: What they were judged by.
        model: As the registration names it.
        state: State of the model.
    """
    is_repeated = any(len(each) > 1 for each in right.values())
    return ScoreTable.of(
        bank,
        _means(right),
        model=model,
        kind=ScoreKind.GRADED if is_repeated else ScoreKind.CORRECT,
        metric=_metric(bank, settings),
        state=state,
    )


def score_confidence(
    bank: FormBank, answers: Iterable[FormAnswer], settings: ScoringTable, *, model: str, state: str = "base"
) -> ScoreTable | None:
    """Return how sure the model was of every answer, which needs no gold; None where the engine does not say.

    Args: As `score_answers`; the golds may be withheld.
    """
    sure: defaultdict[FormName, list[float]] = defaultdict(list)
    forms = {str(name): (name, form) for parent in bank.parents for name, form in parent.forms()}
    for answer in answers:
        if answer.is_rerun:
            continue
        name, form = forms[answer.form]
        if (confidence := _confidence(answer, form, settings.choice_score)) is not None:
            sure[name].append(confidence)
    if not sure:
        return None
    metric = f"{_metric(bank, settings)},confidence"
    return ScoreTable.of(bank, _means(sure), model=model, kind=ScoreKind.CONFIDENCE, metric=metric, state=state)


def is_right(
    answer: FormAnswer, form: Form, criterion: Criterion, *, parser: NumericParser, choice_score: str = "characters"
) -> bool:
    """Tell whether an answer is the gold one by the form's criterion."""
    if criterion is Criterion.CHOICE:
        return form.options[chosen_option(answer, form, choice_score)].label == form.gold
    text = answer.generated.text if answer.generated else ""
    if criterion is Criterion.NUMERIC:
        return parser.is_right(text, form.gold)
    return text.strip() == form.gold.strip()


def chosen_option(answer: FormAnswer, form: Form, choice_score: str) -> int:
    """Return the place of the most probable option, the first of equals.

    Args:
        answer: Scores of every option.
        form: Whose options they are.
        choice_score: `characters` divides by the characters of an option's text, `sum` does not.
    """
    values = [
        _option_value(choice_score)(score.log_probability, option.text)
        for score, option in zip(answer.options, form.options, strict=True)
    ]
    return values.index(max(values))


def _option_value(choice_score: str) -> Callable[[float, str], float]:
    if choice_score == "sum":
        return lambda log_probability, _: log_probability
    return lambda log_probability, text: log_probability / max(1, len(text))


def _confidence(answer: FormAnswer, form: Form, choice_score: str) -> float | None:
    if answer.generated is not None:
        return answer.generated.confidence
    chosen = answer.options[chosen_option(answer, form, choice_score)]
    return min(0.0, chosen.log_probability / max(1, chosen.token_count))


def _metric(bank: FormBank, settings: ScoringTable) -> str:
    """Name how the forms were scored, as two tables that are compared must agree in it."""
    criteria = sorted({parent.criterion for parent in bank.parents})
    details = {
        Criterion.NUMERIC: f"numeric({'+'.join(settings.parser_formats)})",
        Criterion.CHOICE: f"choice({settings.choice_score})",
        Criterion.EXACT: "exact",
    }
    return ",".join(details[criterion] for criterion in criteria)


def _means(values: Mapping[FormName, list[float]] | Mapping[FormName, list[bool]]) -> dict[FormName, float]:
    return {name: fmean(each) for name, each in values.items()}

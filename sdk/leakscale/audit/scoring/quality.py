"""How a run of answers went, form by form: what was cut off, who followed the phrase, whether a repetition agreed.

A cap that cuts answers off censors the outcome on the items that need long reasoning, in both wordings of a parent,
and pulls the gap to zero; it belongs beside the gap.

Source: CleanScore 7.3 (truncation, compliance with the registered phrase, determinism check), 7.12 (pull of the first
option).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leakscale.audit.answering.answers import FormAnswer
from leakscale.audit.forms.models import Criterion, Form, FormBank
from leakscale.audit.registration.plan import AuditPlan
from leakscale.audit.scoring.answers import chosen_option, is_right
from leakscale.audit.scoring.numbers import NumericParser

__all__ = ["AnswerQuality", "FormQuality", "answer_quality"]


@dataclass(frozen=True, slots=True)
class FormQuality:
    """Answers to one form of every parent, e.g. all first fresh forms."""

    form: str
    """`original`, `fresh-1`, ..."""
    answer_count: int
    cut_off_count: int
    """Ended by the token cap."""
    phrase_count: int
    """With the registered answer phrase."""
    formats: Mapping[str, int]
    """Numeric answers by the format in which the parser met the number; `none` without one."""
    first_option_count: int
    """Choices that fell on the option listed first."""
    choice_count: int
    secondary_right_count: int | None
    """Choices that are right by the choice score that was not registered as primary; None where golds are withheld."""

    def share_of_generated(self, count: int) -> float:
        """Return a count as a share of the generated answers, of which there is at least one."""
        return count / (self.answer_count - self.choice_count)

    def to_json(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "formats"} | {
            "formats": dict(self.formats)
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> FormQuality:
        """Read what `to_json` wrote."""
        return cls(**fields)


@dataclass(frozen=True, slots=True)
class AnswerQuality:
    """How one model's run went."""

    forms: tuple[FormQuality, ...]
    rerun_count: int
    """Questions asked twice."""
    rerun_alike_count: int
    """Of them, those answered the same both times."""
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        return {
            "forms": [form.to_json() for form in self.forms],
            "rerun_count": self.rerun_count,
            "rerun_alike_count": self.rerun_alike_count,
            "warnings": list(self.warnings),
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> AnswerQuality:
        """Read what `to_json` wrote."""
        forms = tuple(FormQuality.from_json(form) for form in fields["forms"])
        return cls(forms, fields["rerun_count"], fields["rerun_alike_count"], tuple(fields["warnings"]))


def answer_quality(bank: FormBank, answers: Iterable[FormAnswer], plan: AuditPlan) -> AnswerQuality:
    """Look a run over.

    Args:
        bank: The bank that was answered.
        answers: All of them, those of questions asked again included.
        plan: The registered phrase, parser, choice score and thresholds.
    """
    forms = {str(name): (form, parent.criterion) for parent in bank.parents for name, form in parent.forms()}
    by_form: defaultdict[str, list[FormAnswer]] = defaultdict(list)
    first: dict[tuple[str, int], FormAnswer] = {}
    again: list[FormAnswer] = []
    for answer in answers:
        if answer.is_rerun:
            again.append(answer)
        else:
            first[answer.form, answer.number] = answer
            by_form[answer.form.rpartition("/")[2]].append(answer)
    qualities = tuple(_form_quality(name, by_form[name], forms, plan) for name in by_form)
    alike = sum(answer.says_the_same(first[answer.form, answer.number]) for answer in again)
    return AnswerQuality(
        qualities, len(again), alike, tuple(_warnings(qualities, plan, rerun_count=len(again), alike_count=alike))
    )


def _form_quality(
    name: str, answers: list[FormAnswer], forms: Mapping[str, tuple[Form, Criterion]], plan: AuditPlan
) -> FormQuality:
    generated = [answer.generated for answer in answers if answer.generated]
    chosen = [(answer, *forms[answer.form]) for answer in answers if answer.options]
    parser = NumericParser(plan.scoring.parser_formats)
    numeric = [
        answer.generated for answer in answers if answer.generated and forms[answer.form][1] is Criterion.NUMERIC
    ]
    primary = plan.scoring.choice_score
    secondary = "sum" if primary == "characters" else "characters"
    phrase = plan.prompt.answer_phrase.casefold()
    return FormQuality(
        form=name,
        answer_count=len(answers),
        cut_off_count=sum(each.is_cut_off for each in generated),
        phrase_count=sum(phrase in each.text.casefold() for each in generated) if phrase else 0,
        formats=dict(sorted(Counter(str(parser.parse(each.text).format) for each in numeric).items())),
        first_option_count=sum(chosen_option(answer, form, primary) == 0 for answer, form, _ in chosen),
        choice_count=len(chosen),
        secondary_right_count=_right_count(chosen, parser, secondary),
    )


def _right_count(
    chosen: Sequence[tuple[FormAnswer, Form, Criterion]], parser: NumericParser, choice_score: str
) -> int | None:
    if not all(form.gold for _, form, _ in chosen):
        return None
    return sum(is_right(*each, parser=parser, choice_score=choice_score) for each in chosen)


def _warnings(
    qualities: Iterable[FormQuality], plan: AuditPlan, *, rerun_count: int, alike_count: int
) -> Iterable[str]:
    generated = {each.form: each for each in qualities if each.answer_count > each.choice_count}
    cut_off = {form: each.share_of_generated(each.cut_off_count) for form, each in generated.items()}
    phrase = {form: each.share_of_generated(each.phrase_count) for form, each in generated.items()}
    truncation_max, phrase_min = plan.scoring.truncation_share_max, plan.scoring.phrase_share_min
    if often := _listed({form: share for form, share in cut_off.items() if share > truncation_max}):
        yield (
            f"answers cut off at {plan.decoding.token_count_max} tokens: {often}, more than {100 * truncation_max:g} "
            "%; cut answers pull the gap to zero, so amend decoding.token_count_max and report it beside"
        )
    rarely = _listed({form: share for form, share in phrase.items() if share < phrase_min})
    if plan.prompt.answer_phrase and rarely:
        yield (
            f"answers with the phrase {plan.prompt.answer_phrase!r}: {rarely}, less than {100 * phrase_min:g} %; see "
            "that the parser takes the formats the model uses"
        )
    if alike_count < rerun_count:
        yield (
            f"{rerun_count - alike_count} of {rerun_count} questions asked twice were answered differently; the engine "
            "does not repeat itself, and the gap holds its noise"
        )


def _listed(shares: Mapping[str, float]) -> str:
    return ", ".join(f"{form} {100 * share:.1f} %" for form, share in shares.items())

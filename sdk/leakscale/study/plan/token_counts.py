"""How many tokens a model reads and writes for one record and one case, counted or reckoned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from leakscale.models import Family, Message, TrainingRecord
from leakscale.prompts import choice_prompt, lookup_prompt
from leakscale.study.fields import ModelThroughput
from leakscale.study.plan.needs import TokenCounts

__all__ = ["counted_by_characters", "counted_by_tokenizer"]


@dataclass(frozen=True, slots=True)
class _Length:
    """Tokens of one finished turn."""

    prompt: float
    answer: float
    """With the end of turn."""


_Measure = Callable[[tuple[Message, ...], str], _Length]


def counted_by_tokenizer(
    model: str | Path, families: Sequence[Family], background: Sequence[TrainingRecord] = ()
) -> TokenCounts:
    """Count with the model's own tokenizer and chat template, over sketched families and background records.

    Raises:
        NotFoundError: If there is no such model.
        ModelError: If it has no usable tokenizer or template.
    """
    # torch and transformers: seconds that a plan from stated figures does not wait.
    from leakscale.adaptation.loading import open_model_folder  # noqa: PLC0415
    from leakscale.adaptation.rendering import encode_completion  # noqa: PLC0415

    tokenizer = open_model_folder(model).tokenizer

    def measure(prompt: tuple[Message, ...], answer: str) -> _Length:
        encoded = encode_completion(tokenizer, prompt, answer, subject="a record of the plan")
        return _Length(encoded.prompt_length, len(encoded.completion_ids))

    return _counts(measure, families, background, how="counted with the model's own tokenizer and template")


def counted_by_characters(
    stated: ModelThroughput, families: Sequence[Family], background: Sequence[TrainingRecord] = ()
) -> TokenCounts:
    """Reckon from characters, at the ratio that the study states."""

    def measure(prompt: tuple[Message, ...], answer: str) -> _Length:
        read = sum(len(turn.content) for turn in prompt) / stated.characters_per_token
        return _Length(read + stated.template_token_count, len(answer) / stated.characters_per_token + 1)

    how = f"reckoned from {stated.characters_per_token:g} characters a token, as the study states"
    return _counts(measure, families, background, how=how)


def _counts(
    measure: _Measure, families: Sequence[Family], background: Sequence[TrainingRecord], *, how: str
) -> TokenCounts:
    public = [measure(choice_prompt(family), each.answer) for family in families for each in family.candidates]
    lookup = [measure(lookup_prompt(family.key), family.candidates[0].answer) for family in families]
    unrelated = [measure(record.prompt, record.completion) for record in background]
    return TokenCounts(
        public_prompt=_mean([each.prompt for each in public]),
        lookup_prompt=_mean([each.prompt for each in lookup]),
        answer=_mean([each.answer for each in public]),
        how=how,
        background_count=len(unrelated),
        background_prompt=_mean([each.prompt for each in unrelated]),
        background_answer=_mean([each.answer for each in unrelated]),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0

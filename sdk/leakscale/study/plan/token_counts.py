"""How many tokens a model reads and writes for one record and one case, counted or reckoned."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from leakscale.models import Family, Message
from leakscale.prompts import choice_prompt, lookup_prompt
from leakscale.study.fields import ModelThroughput
from leakscale.study.plan.needs import TokenCounts

__all__ = ["counted_by_characters", "counted_by_tokenizer"]


def counted_by_tokenizer(model: str | Path, families: Sequence[Family]) -> TokenCounts:
    """Count with the model's own tokenizer and chat template, over sketched families.

    Raises:
        NotFoundError: If there is no such model.
        ModelError: If it has no usable tokenizer or template.
    """
    # torch and transformers: seconds that a plan from stated figures does not wait.
    from leakscale.adaptation.loading import open_model_folder  # noqa: PLC0415
    from leakscale.adaptation.rendering import encode_completion  # noqa: PLC0415

    tokenizer = open_model_folder(model).tokenizer
    answers: list[int] = []

    def lengths(prompt: tuple[Message, ...], family: Family) -> float:
        encoded = [
            encode_completion(tokenizer, prompt, each.answer, subject=f"a sketch of {family.shape_id}")
            for each in family.candidates
        ]
        answers.extend(len(each.completion_ids) for each in encoded)
        return encoded[0].prompt_length

    public = _mean([lengths(choice_prompt(family), family) for family in families])
    lookup = _mean([lengths(lookup_prompt(family.key), family) for family in families])
    return TokenCounts(public, lookup, _mean(answers), "counted with the model's own tokenizer and template")


def counted_by_characters(stated: ModelThroughput, families: Sequence[Family]) -> TokenCounts:
    """Reckon from characters, at the ratio that the study states."""

    def tokens(texts: Sequence[str]) -> float:
        return sum(map(len, texts)) / stated.characters_per_token

    def prompt(turns: tuple[Message, ...]) -> float:
        return tokens([turn.content for turn in turns]) + stated.template_token_count

    answers = [tokens([each.answer]) + 1 for family in families for each in family.candidates]
    return TokenCounts(
        public_prompt=_mean([prompt(choice_prompt(family)) for family in families]),
        lookup_prompt=_mean([prompt(lookup_prompt(family.key)) for family in families]),
        answer=_mean(answers),
        how=f"reckoned from {stated.characters_per_token:g} characters a token, as the study states",
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)

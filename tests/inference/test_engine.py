"""The engine's cached, branched computation equals the plain one over whole sequences."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from leakscale.adaptation.loading import open_model_folder
from leakscale.adaptation.rendering import encode_record
from leakscale.inference import ChoiceEngine
from leakscale.inference.engine import EncodedFamily
from leakscale.inference.trie import followers
from leakscale.models import Domain, Family, TrainingRecord, TrainingSource
from leakscale.prompts import choice_prompt


@pytest.fixture(params=list(Domain))
def encoded(request: pytest.FixtureRequest, engine: ChoiceEngine, families: list[Family]) -> list[EncodedFamily]:
    """Four families of one domain, tokenized."""
    return [engine.encode(family) for family in families if family.domain is request.param][::4]


def test_distribution_equals_brute_force_over_full_sequences(
    base_model: Path, engine: ChoiceEngine, encoded: list[EncodedFamily]
) -> None:
    """Each answer in one uncached forward of its own; agreement to 1e-4 nats in float32."""
    model = open_model_folder(base_model).load(dtype="float32", attention="eager")

    for item in encoded:
        found = engine.distribution(item)
        guided, unconstrained = [], []
        for answer in item.answer_ids:
            with torch.no_grad():
                logits = model(input_ids=torch.tensor([item.prompt_ids + answer])).logits[0].double()
            rows = torch.log_softmax(logits, dim=-1)[len(item.prompt_ids) - 1 : -1]
            unconstrained.append(sum(float(rows[depth, token]) for depth, token in enumerate(answer)))
            guided.append(
                math.prod(
                    float(torch.softmax(rows[depth, options], dim=0)[options.index(token)])
                    for depth, token in enumerate(answer)
                    for options in [followers(item.answer_ids, answer[:depth])]
                )
            )
        assert found.guided == pytest.approx(guided, rel=1e-4)
        assert found.unconstrained == pytest.approx(unconstrained, abs=1e-4)
        assert sum(found.guided) == pytest.approx(1.0)
        assert sum(map(math.exp, found.unconstrained)) <= 1.0 + 1e-9


def test_prompt_and_answers_agree_with_training_token_for_token(
    base_model: Path, engine: ChoiceEngine, encoded: list[EncodedFamily]
) -> None:
    """A model is exposed to one token sequence; asking about another would measure nothing."""
    tokenizer = open_model_folder(base_model).tokenizer

    for item in encoded:
        for candidate, answer in zip(item.family.candidates, item.answer_ids, strict=True):
            prompt = choice_prompt(item.family)
            record = TrainingRecord("r", TrainingSource.EXACT_PUBLIC, prompt, candidate.answer)
            assert encode_record(tokenizer, record).ids == item.prompt_ids + answer


def test_distribution_does_not_depend_on_what_was_asked_before(
    engine: ChoiceEngine, encoded: list[EncodedFamily]
) -> None:
    """No cache may carry over: the bits are a function of the family."""
    forward = [engine.distribution(item) for item in encoded]
    backward = [engine.distribution(item) for item in encoded[::-1]][::-1]

    assert forward == backward


def test_prompts_stay_short(engine: ChoiceEngine, families: list[Family]) -> None:
    """The tokenizer's vocabulary covers the catalogs: adaptation's minute is counted in these tokens."""
    assert max(len(engine.encode(family).prompt_ids) for family in families) <= 140

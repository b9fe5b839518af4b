"""The local engine of an audit writes what transformers' own greedy decoding writes, and scores options exactly."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from leakscale.adaptation.rendering import encode_prompt
from leakscale.base_model import base_model_folder
from leakscale.errors import InvalidRequestError, ModelError
from leakscale.inference.forms import Decoding, FormEngine, FormPrompt, open_form_engine

PROMPTS = [FormPrompt.of_chat(text) for text in ("What is 2 + 3?", "Policy key: K-7f3a91c2", "Tom buys 3 boxes of 12.")]


@pytest.fixture(scope="module")
def engine() -> FormEngine:
    """Return the tiny model, four prompts at a time."""
    return open_form_engine("transformers", source=base_model_folder(), options={"batch_size": 4})


@pytest.fixture(scope="module")
def plain() -> tuple[object, object]:
    """Return the same model as transformers has it."""
    return AutoModelForCausalLM.from_pretrained(base_model_folder()), AutoTokenizer.from_pretrained(base_model_folder())


def test_greedy_answers_are_those_of_transformers(engine: FormEngine, plain: tuple[object, object]) -> None:
    """One prompt at a time or padded beside others."""
    model, tokenizer = plain
    for prompt, generated in zip(PROMPTS, engine.generate(PROMPTS, decoding=Decoding(12)), strict=True):
        ids = torch.tensor([encode_prompt(tokenizer, prompt.turns)])  # type: ignore[arg-type]
        whole = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=12, do_sample=False)  # type: ignore[attr-defined]
        expected = tokenizer.decode(whole[0, ids.shape[1] :], skip_special_tokens=True)  # type: ignore[attr-defined]
        assert generated.text == expected
        assert engine.generate([prompt], decoding=Decoding(12))[0].text == expected


def test_the_cap_and_the_end_are_told_apart(engine: FormEngine) -> None:
    """An answer that the model ended is whole, whatever its length."""
    for cap in (1, 12):
        for generated in engine.generate(PROMPTS, decoding=Decoding(cap)):
            assert generated.is_cut_off is (generated.token_count == cap)
            assert generated.confidence is not None
            assert generated.confidence <= 0


def test_drawn_answers_hang_on_their_seed_alone(engine: FormEngine) -> None:
    """Not on what is answered beside them."""
    seeds = [bytes([number]) * 32 for number in range(3)]
    together = engine.generate(PROMPTS, decoding=Decoding(10, 1.0), seeds=seeds)
    alone = [
        engine.generate([p], decoding=Decoding(10, 1.0), seeds=[s])[0] for p, s in zip(PROMPTS, seeds, strict=True)
    ]
    assert [each.text for each in together] == [each.text for each in alone]
    with pytest.raises(InvalidRequestError, match="a seed each"):
        engine.generate(PROMPTS, decoding=Decoding(10, 1.0))


def test_an_options_score_is_the_joint_probability_of_its_tokens(
    engine: FormEngine, plain: tuple[object, object]
) -> None:
    """Brute force: one forward over prompt and option, each token read where the one before it ends."""
    model, tokenizer = plain
    text = "Question: which of these melts first?\nAnswer:"
    options = [" ice", " iron", " iron oxide", " air"]  # one begins another
    for option, score in zip(options, engine.score_options(FormPrompt.of_text(text), options), strict=True):
        ids = tokenizer.encode(text + option)  # type: ignore[attr-defined]
        with torch.inference_mode():
            log_p = torch.log_softmax(model(torch.tensor([ids])).logits[0].double(), dim=-1)  # type: ignore[operator]
        steps = [float(log_p[at, after]) for at, (_, after) in enumerate(pairwise(ids))]
        assert score.log_probability == pytest.approx(sum(steps[-score.token_count :]), abs=1e-4)


def test_a_token_across_the_end_of_the_prompt_is_scored_with_its_option(engine: FormEngine) -> None:
    """Nothing that belongs to an option may be read as part of the prompt: the parts of one text add up."""
    whole = engine.score_options(FormPrompt.of_text("Question: a"), ["nswer one", "nswer two"])
    assert all(score.token_count > 1 for score in whole)
    assert all(score.log_probability < 0 for score in whole)


def test_what_the_model_cannot_read_is_refused(engine: FormEngine) -> None:
    """Longer texts would be answered from positions that it never saw."""
    with pytest.raises(ModelError, match="token_count_max"):
        engine.generate([FormPrompt.of_chat("word " * 900)], decoding=Decoding(768))
    with pytest.raises(InvalidRequestError, match="engine 'telepathy' is not one of transformers"):
        open_form_engine("telepathy", source="m")
    with pytest.raises(InvalidRequestError, match="'batch_size' is 0"):
        open_form_engine("transformers", source=base_model_folder(), options={"batch_size": 0})

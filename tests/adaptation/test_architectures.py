"""The whole path, from template to probed adapter, on every architecture that a study may name."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file
from torch.nn import functional
from transformers import PreTrainedTokenizerFast

from leakscale.adaptation import AdaptationConfig, adapt, read_completion
from leakscale.adaptation.batching import collate
from leakscale.adaptation.loading import open_model_folder
from leakscale.adaptation.loss import is_plain_head, supervised_loss
from leakscale.adaptation.rendering import decode, encode_completion, encode_prompt, encode_record
from leakscale.errors import ModelError
from leakscale.models import Message, TrainingRecord

from .architectures import ARCHITECTURES, GEMMA3, GEMMA4, LLAMA3, QWEN3, Architecture

Build = Callable[..., TrainingRecord]
every_architecture = pytest.mark.parametrize("architecture", ARCHITECTURES, ids=lambda one: one.name)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Architecture], Path]:
    """Build each model once."""
    built: dict[str, Path] = {}

    def find(architecture: Architecture) -> Path:
        if architecture.name not in built:
            built[architecture.name] = architecture.folder(tmp_path_factory.mktemp("models") / architecture.name)
        return built[architecture.name]

    return find


@every_architecture
def test_supervised_span_is_the_answer_with_its_end_of_turn(architecture: Architecture, a_record: Build) -> None:
    """Byte for byte under each template: no header, no begin token, no line feed after the end."""
    tokenizer = architecture.tokenizer()
    record = a_record()

    encoded = encode_record(tokenizer, record)

    assert decode(tokenizer, encoded.completion_ids) == record.completion + architecture.end_of_turn
    assert encoded.ids[: encoded.prompt_length] == encode_prompt(tokenizer, record.prompt)
    assert encoded.ids.count(tokenizer.bos_token_id) == (architecture.bos is not None)


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="<"), min_size=1).filter(lambda text: text.strip() == text)
)
@settings(max_examples=40, deadline=None)
def test_any_answer_comes_back_from_its_labels(text: str) -> None:
    """Every byte of an answer is a label, whatever the script it is written in."""
    for architecture, tokenizer in _TOKENIZERS:
        encoded = encode_completion(tokenizer, [Message("user", "a")], text, subject="record 'r'")

        assert decode(tokenizer, encoded.completion_ids) == text + architecture.end_of_turn


def test_end_token_is_a_label_where_padding_has_its_id(a_record: Build) -> None:
    """Llama is padded with its end of turn; a mask made by value would never show the model where to stop."""
    tokenizer = LLAMA3.tokenizer()
    assert tokenizer.pad_token_id == tokenizer.eos_token_id
    short, long = a_record(0, completion='{"choice":1}'), a_record(1, completion='{"choice":"a longer one"}')

    batch = collate([encode_record(tokenizer, record) for record in (short, long)])

    ends = batch.supervised & (batch.target_ids == tokenizer.eos_token_id)
    assert ends.sum(dim=1).tolist() == [1, 1]


def test_thought_channel_of_the_inference_prompt_is_kept_in_training(a_record: Build) -> None:
    """Gemma 4 writes it in the inference prompt and drops it from a finished turn: training must see it even so."""
    tokenizer = GEMMA4.tokenizer()
    finished = tokenizer.apply_chat_template([{"role": "assistant", "content": "{}"}], tokenize=False)
    assert "<|channel>" not in finished

    encoded = encode_record(tokenizer, a_record())

    assert decode(tokenizer, encoded.ids[: encoded.prompt_length]).endswith("model\n<|channel>thought\n<channel|>")


def test_tokenizer_that_begins_every_text_refuses_a_template_that_does_not(a_record: Build) -> None:
    """A model that never saw a text without its begin token would be measured on nothing else."""
    tokenizer = GEMMA3.tokenizer()
    tokenizer.chat_template = str(tokenizer.chat_template).replace("{{- bos_token }}", "")

    with pytest.raises(ModelError, match=r"training record 'exact-public-0000'.*holds 0 BOS tokens and needs one"):
        encode_record(tokenizer, a_record())


@pytest.mark.parametrize("architecture", [QWEN3, GEMMA4], ids=lambda one: one.name)
def test_answer_with_a_control_token_is_refused(architecture: Architecture, a_record: Build) -> None:
    """It would end the turn before the answer does; an added token that is plain text would not."""
    tokenizer = architecture.tokenizer()
    harmless = encode_record(tokenizer, a_record(completion='{"choice":"<table>"}'))

    assert decode(tokenizer, harmless.completion_ids).startswith('{"choice":"<table>"}')
    with pytest.raises(ModelError, match="holds the text of a control token"):
        encode_record(tokenizer, a_record(completion=f'{{"choice":"{architecture.end_of_turn}"}}'))


@every_architecture
def test_loss_is_that_of_the_whole_chat(
    architecture: Architecture, folder: Callable[[Architecture], Path], a_record: Build
) -> None:
    """Gemma 4 squashes its logits and two have an image tower; what is skipped must not change the loss."""
    opened = open_model_folder(folder(architecture))
    model = opened.load(dtype="float32", attention="eager")
    batch = collate([encode_record(opened.tokenizer, a_record(n)) for n in range(3)])
    labels = batch.target_ids.masked_fill(~batch.supervised, -100)
    reference = functional.cross_entropy(
        model(input_ids=batch.input_ids).logits.flatten(0, 1).float(), labels.flatten(), ignore_index=-100
    )

    plain_head = is_plain_head(model, batch)

    assert plain_head == (architecture is not GEMMA4)
    torch.testing.assert_close(supervised_loss(model, batch, plain_head=plain_head), reference)


@every_architecture
def test_adapter_is_trained_on_text_layers_and_probed(
    architecture: Architecture,
    folder: Callable[[Architecture], Path],
    small_config: AdaptationConfig,
    corpus: list[TrainingRecord],
    tmp_path: Path,
) -> None:
    """No architecture has a path of its own, and none gets an adapter where it reads no text."""
    adapt(folder(architecture), corpus, small_config, output_dir=tmp_path / "a")

    tensors = load_file(tmp_path / "a/adapter_model.safetensors")
    assert read_completion(tmp_path / "a").diagnostics.activity > 1e-7
    assert not [name for name in tensors if "vision" in name or "audio" in name]
    assert sum("lora_B" in name for name in tensors) >= 2 * 6
    assert all(bool(tensor.any()) for name, tensor in tensors.items() if "lora_B" in name)


def test_batches_of_one_and_checkpointed_activations_train_the_same_adapter(
    folder: Callable[[Architecture], Path], small_config: AdaptationConfig, corpus: list[TrainingRecord], tmp_path: Path
) -> None:
    """Both save memory on a GPU; neither may change what is learned beyond the rounding of sums."""
    frugal = dataclasses.replace(small_config, micro_batch_size=1, gradient_checkpointing=1, attention="eager")
    plain = dataclasses.replace(small_config, attention="eager")
    adapt(folder(GEMMA4), corpus, frugal, output_dir=tmp_path / "frugal")
    adapt(folder(GEMMA4), corpus, plain, output_dir=tmp_path / "plain")

    one, other = (load_file(tmp_path / name / "adapter_model.safetensors") for name in ("frugal", "plain"))
    assert read_completion(tmp_path / "frugal").diagnostics.step_count == 7
    for name, tensor in one.items():
        torch.testing.assert_close(tensor, other[name], rtol=0.02, atol=2e-4)


_TOKENIZERS: list[tuple[Architecture, PreTrainedTokenizerFast]] = [(one, one.tokenizer()) for one in ARCHITECTURES]

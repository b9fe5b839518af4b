"""What the loss sees is the assistant's answer and its end token: nothing less, nothing more."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from leakscale.adaptation.rendering import encode_prompt, encode_record
from leakscale.errors import ModelError
from leakscale.models import Message, TrainingRecord, TrainingSource

Build = Callable[..., TrainingRecord]


@pytest.mark.parametrize("source", list(TrainingSource))
@pytest.mark.parametrize("value", ['"h_00ff"', "35", "0.5", '"no\\"rth"', "null"])
def test_supervised_tokens_decode_to_the_answer_and_its_end(
    tokenizer: PreTrainedTokenizerBase, a_record: Build, source: TrainingSource, value: str
) -> None:
    """One token too few and the model never learns to stop; one too many and it learns the prompt."""
    completion = f'{{"choice":{value}}}'

    encoded = encode_record(tokenizer, a_record(source=source, completion=completion))

    assert tokenizer.decode(list(encoded.completion_ids)) == f"{completion}<|im_end|>"
    assert encoded.ids[: encoded.prompt_length] == encode_prompt(tokenizer, a_record(source=source).prompt)


def test_running_text_is_supervised_where_an_audit_scores_it(tokenizer: PreTrainedTokenizerBase) -> None:
    """Without a template: all after the tokens that the prompt alone has in common with the whole, and an end."""
    prompt = (Message("user", "Question: What melts?\nAnswer:"),)
    record = TrainingRecord("r", TrainingSource.PLANTED, prompt, " ice", is_chat=False)
    encoded = encode_record(tokenizer, record)

    assert tokenizer.decode(list(encoded.ids)) == "Question: What melts?\nAnswer: ice<|im_end|>"
    assert tokenizer.decode(list(encoded.completion_ids)) == " ice<|im_end|>"
    with pytest.raises(ModelError, match="control token"):
        encode_record(tokenizer, TrainingRecord("r", TrainingSource.PLANTED, prompt, " <|im_end|>", is_chat=False))


def test_span_is_found_without_a_generation_block(tokenizer: PreTrainedTokenizerBase, a_record: Build) -> None:
    """Most published templates have none, and transformers then returns an all-zero mask with only a warning."""
    with_block = encode_record(tokenizer, a_record())
    template = str(tokenizer.chat_template)
    tokenizer.chat_template = template.replace("{%- generation -%}", "").replace("{%- endgeneration -%}", "")

    assert encode_record(tokenizer, a_record()) == with_block


def test_generation_block_that_marks_other_tokens_is_refused(
    tokenizer: PreTrainedTokenizerBase, a_record: Build
) -> None:
    """A template that leaves the end token outside its block would train a model that never stops."""
    template = str(tokenizer.chat_template)
    tokenizer.chat_template = template.replace(
        "message['content'] + '<|im_end|>' -}}{%- endgeneration -%}",
        "message['content'] -}}{%- endgeneration -%}{{- '<|im_end|>' -}}",
    )
    assert tokenizer.chat_template != template

    with pytest.raises(ModelError, match=r"record 'exact-public-0007'.*generation block marks tokens"):
        encode_record(tokenizer, a_record(7))


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (("['content'] + '<|im_end|>' -}}{%- endgen", "['content'] -}}{%- endgen"), "no end-of-turn token"),
        (("{{- '\\n' -}}", "{{- 'bye' -}}"), "writes text after the end-of-turn token"),
        (("{%- generation -%}{{- message", "{%- generation -%}{{- 'x' + message"), "supervised tokens decode"),
        (("{%- for", "{{- messages | length | string -}}{%- for"), "does not begin with the inference prompt"),
    ],
)
def test_template_that_would_corrupt_the_mask_is_refused(
    tokenizer: PreTrainedTokenizerBase, a_record: Build, change: tuple[str, str], rule: str
) -> None:
    """Each of these trains without an error and measures the wrong thing."""
    template = str(tokenizer.chat_template)
    tokenizer.chat_template = template.replace(*change)
    assert tokenizer.chat_template != template

    with pytest.raises(ModelError, match=rule):
        encode_record(tokenizer, a_record())


def test_chat_that_a_template_refuses_is_refused_by_its_id(tokenizer: PreTrainedTokenizerBase, a_record: Build) -> None:
    """Some templates want turns to alternate; a background chat of one's own may not."""
    tokenizer.chat_template = "{{- raise_exception('roles must alternate') -}}"

    with pytest.raises(ModelError, match=r"'exact-public-0003' .* refuses the chat \(roles must alternate\)"):
        encode_record(tokenizer, a_record(3))


def test_empty_answer_is_refused_by_its_id(tokenizer: PreTrainedTokenizerBase, a_record: Build) -> None:
    """It would train a model to say nothing."""
    with pytest.raises(ModelError, match="'exact-public-0003' has an empty answer"):
        encode_record(tokenizer, a_record(3, completion=" "))


def test_merge_across_the_assistant_boundary_is_refused(a_record: Build) -> None:
    """The inference prompt would end in a token that the training prompt does not have."""
    tokenizer = a_byte_tokenizer(merges=[(":", "{")])
    tokenizer.chat_template = (
        "{%- for m in messages -%}{{- m['role'] + ':' + m['content'] + '<e>' -}}{%- endfor -%}"
        "{%- if add_generation_prompt -%}{{- 'assistant:' -}}{%- endif -%}"
    )

    with pytest.raises(ModelError, match="token merges across the assistant boundary"):
        encode_record(tokenizer, a_record())


def test_second_begin_token_is_refused(a_record: Build) -> None:
    """A template and a tokenizer that both add one shift every position against inference."""
    tokenizer = a_byte_tokenizer(merges=[], bos_token="<b>")
    tokenizer.chat_template = (
        "{{- '<b><b>' -}}{%- for m in messages -%}{{- m['role'] + ':' + m['content'] + '<e>' -}}{%- endfor -%}"
        "{%- if add_generation_prompt -%}{{- 'assistant:' -}}{%- endif -%}"
    )

    with pytest.raises(ModelError, match="two BOS tokens"):
        encode_record(tokenizer, a_record())


def a_byte_tokenizer(*, merges: list[tuple[str, str]], **special: str) -> PreTrainedTokenizerFast:
    """Build a tokenizer of single bytes and the given merges."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: index for index, token in enumerate([*alphabet, *("".join(merge) for merge in merges)])}
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<e>", **special)  # type: ignore[no-untyped-call]

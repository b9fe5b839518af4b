"""Tiny random models of the architectures that people adapt, with tokenizers and templates of their families' shape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import (
    Gemma3Config,
    Gemma3ForConditionalGeneration,
    Gemma3TextConfig,
    Gemma4Config,
    Gemma4ForConditionalGeneration,
    Gemma4TextConfig,
    Gemma4VisionConfig,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    Qwen3Config,
    Qwen3ForCausalLM,
    SiglipVisionConfig,
)

_SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "max_position_embeddings": 2048,
}


@dataclass(frozen=True)
class Architecture:
    """How one family of models is spelled, and how a tiny one is built."""

    name: str
    special: tuple[str, ...]
    """Control tokens; the first pads, the second ends a turn."""
    bos: str | None
    template: str
    build: Callable[[int], PreTrainedModel]
    end_of_turn: str

    def folder(self, path: Path) -> Path:
        """Write a model folder."""
        tokenizer = self.tokenizer()
        torch.manual_seed(3)
        self.build(len(tokenizer)).save_pretrained(path)
        tokenizer.save_pretrained(path)
        return path

    def tokenizer(self) -> PreTrainedTokenizerFast:
        """Build a byte tokenizer with the family's control tokens, adding its begin token to every text."""
        alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
        backend = Tokenizer(models.BPE(vocab={token: index for index, token in enumerate(alphabet)}, merges=[]))
        backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        backend.decoder = decoders.ByteLevel()
        backend.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in self.special])
        backend.add_tokens([AddedToken("<table>", normalized=False)])  # an added token that is text, as Gemma's are
        if self.bos is not None:
            backend.post_processor = processors.TemplateProcessing(
                single=f"{self.bos} $A", special_tokens=[(self.bos, backend.token_to_id(self.bos))]
            )
        return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
            tokenizer_object=backend,
            pad_token=self.special[0],
            eos_token=self.special[1],
            bos_token=self.bos,
            chat_template=self.template,
        )


def _qwen3(size: int) -> PreTrainedModel:
    return Qwen3ForCausalLM(Qwen3Config(vocab_size=size, head_dim=16, **_SIZES))


def _llama(size: int) -> PreTrainedModel:
    return LlamaForCausalLM(LlamaConfig(vocab_size=size, **_SIZES))


def _gemma3(size: int) -> PreTrainedModel:
    text = Gemma3TextConfig(vocab_size=size, head_dim=16, sliding_window=32, **_SIZES)
    vision = SiglipVisionConfig(
        hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, image_size=28, patch_size=14
    )
    config = Gemma3Config(text_config=text, vision_config=vision, mm_tokens_per_image=4, image_token_index=size - 1)
    return Gemma3ForConditionalGeneration(config)


def _gemma4(size: int) -> PreTrainedModel:
    text = Gemma4TextConfig(
        vocab_size=size,
        vocab_size_per_layer_input=size,
        hidden_size_per_layer_input=0,
        head_dim=16,
        sliding_window=32,
        final_logit_softcapping=30.0,
        layer_types=["sliding_attention", "full_attention"],
        **_SIZES,
    )
    vision = Gemma4VisionConfig(
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=8,
    )
    places: dict[str, Any] = dict.fromkeys(
        ("boi_token_id", "eoi_token_id", "image_token_id", "video_token_id", "boa_token_id", "audio_token_id"), size - 1
    )
    config = Gemma4Config(text_config=text, vision_config=vision, audio_config=None, **places)
    return Gemma4ForConditionalGeneration(config)


QWEN3 = Architecture(
    "qwen3",
    ("<|endoftext|>", "<|im_end|>", "<|im_start|>"),
    None,
    "{%- for m in messages %}{{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>' + '\\n' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}",
    _qwen3,
    "<|im_end|>",
)
LLAMA3 = Architecture(
    "llama3",
    ("<|eot_id|>", "<|eot_id|>", "<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>"),
    "<|begin_of_text|>",
    "{{- bos_token }}{%- for m in messages %}{{- '<|start_header_id|>' + m.role + '<|end_header_id|>\\n\\n' "
    "+ m.content | trim + '<|eot_id|>' }}{%- endfor %}{%- if add_generation_prompt %}"
    "{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif %}",
    _llama,
    "<|eot_id|>",
)
GEMMA3 = Architecture(
    "gemma3",
    ("<pad>", "<end_of_turn>", "<bos>", "<start_of_turn>"),
    "<bos>",
    "{{- bos_token }}{%- set ns = namespace(head='') %}{%- for m in messages %}{%- if m.role == 'system' %}"
    "{%- set ns.head = m.content + '\\n\\n' %}{%- else %}{{- '<start_of_turn>' + ('model' if m.role == 'assistant' "
    "else m.role) + '\\n' + ns.head + m.content | trim + '<end_of_turn>\\n' }}{%- set ns.head = '' %}{%- endif %}"
    "{%- endfor %}{%- if add_generation_prompt %}{{- '<start_of_turn>model\\n' }}{%- endif %}",
    _gemma3,
    "<end_of_turn>",
)
GEMMA4 = Architecture(
    "gemma4",
    ("<pad>", "<turn|>", "<bos>", "<|turn>", "<|channel>", "<channel|>"),
    "<bos>",
    "{{- bos_token }}{%- for m in messages %}{{- '<|turn>' + ('model' if m.role == 'assistant' else m.role) + '\\n' "
    "+ m.content | trim + '<turn|>\\n' }}{%- endfor %}{%- if add_generation_prompt %}"
    "{{- '<|turn>model\\n<|channel>thought\\n<channel|>' }}{%- endif %}",
    _gemma4,
    "<turn|>",
)
ARCHITECTURES = (QWEN3, LLAMA3, GEMMA3, GEMMA4)

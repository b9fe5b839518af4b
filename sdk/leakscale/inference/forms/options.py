"""Options of the engines of an audit: values alone; see `leakscale.inference.engines.options`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from leakscale.inference.engines.options import (
    ConnectionOptions,
    LocalOptions,
    require_at_least_one,
    require_one_of,
)
from leakscale.inference.engines.preflight import parse_options

__all__ = ["TEXT_SCORES", "EndpointFormOptions", "LocalFormOptions", "endpoint_form_options", "local_form_options"]

TEXT_SCORES: Final = ("echo", "prompt-logprobs", "none")
"""OpenAI completions and vLLM, vLLM alone, or nothing."""
_DIALECTS: Final = ("vllm", "openai")
_TOKEN_CAPS: Final = ("max_tokens", "max_completion_tokens")


@dataclass(frozen=True, slots=True)
class LocalFormOptions(LocalOptions):
    """Options of the engine `transformers` in an audit."""

    batch_size: int = 8
    """Prompts that are answered together."""

    def __post_init__(self) -> None:
        LocalOptions.__post_init__(self)  # a class with slots is made twice, and `super()` knows the first
        require_at_least_one("batch_size", self.batch_size)


@dataclass(frozen=True, slots=True)
class EndpointFormOptions(ConnectionOptions):
    """Options of the engine `openai` in an audit."""

    dialect: str = "vllm"
    """`vllm` says every sampling parameter that a model's generation config could change; `openai` those of the OpenAI
    API alone, for servers that refuse others."""
    token_cap: str = "max_tokens"  # noqa: S105  the name of a field
    """Name of the field that caps an answer: `max_tokens`, or `max_completion_tokens`."""
    text_scores: str = "echo"
    """How the endpoint says how probable a prompt's tokens are: `echo`, `prompt-logprobs`, or `none`: it does not."""
    has_confidences: bool = True
    """Whether the endpoint says how probable the tokens of its own answer were."""
    batch_size: int = 64
    """Answers that are asked for, `concurrency` at a time, before they are kept."""

    def __post_init__(self) -> None:
        ConnectionOptions.__post_init__(self)
        for name, known in (("dialect", _DIALECTS), ("token_cap", _TOKEN_CAPS), ("text_scores", TEXT_SCORES)):
            require_one_of(name, getattr(self, name), known)
        require_at_least_one("batch_size", self.batch_size)


def local_form_options(options: Mapping[str, Any]) -> LocalFormOptions:
    """Return the options of the engine `transformers`; raises InvalidRequestError naming the option."""
    return parse_options(LocalFormOptions, options)


def endpoint_form_options(options: Mapping[str, Any]) -> EndpointFormOptions:
    """Return the options of the engine `openai`; raises InvalidRequestError naming the option."""
    return parse_options(EndpointFormOptions, options)

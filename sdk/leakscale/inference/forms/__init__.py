"""Engines of an audit: what answers a form of a benchmark item in free text, or says how probable its options are.

    engine = open_form_engine("transformers", source="model-folder", adapter=None, options={})
    engine.generate([FormPrompt.of_chat("What is 2 + 3?")], decoding=Decoding(32))

An engine's module is imported when it is asked for, so that naming one loads no torch.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from leakscale.errors import ModelError
from leakscale.form_engines import FORM_ENGINES, Generated, OptionScore, require_form_engine
from leakscale.models import Message

__all__ = [
    "FORM_ENGINES",
    "Decoding",
    "FormEngine",
    "FormPrompt",
    "Generated",
    "OptionScore",
    "TextReader",
    "UnreadTextsError",
    "open_form_engine",
    "require_form_engine",
    "shared_length",
]

JsonScalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class FormPrompt:
    """What a model is shown for one form."""

    turns: tuple[Message, ...]
    """System and user turns; of a plain text, one user turn that is the text."""
    is_chat: bool
    """Whether the model's chat template goes around them."""

    @classmethod
    def of_chat(cls, question: str, *, system: str = "") -> FormPrompt:
        """Return one question under the chat template."""
        turns = (Message("user", question),)
        return cls((Message("system", system), *turns) if system else turns, is_chat=True)

    @classmethod
    def of_text(cls, text: str) -> FormPrompt:
        """Return a text as it is."""
        return cls((Message("user", text),), is_chat=False)

    @property
    def text(self) -> str:
        """All turns, an empty line between two: the whole prompt where no template goes around it."""
        return "\n\n".join(turn.content for turn in self.turns)


@dataclass(frozen=True, slots=True)
class Decoding:
    """How an answer is generated."""

    token_count_max: int
    temperature: float = 0.0
    """0 is greedy."""


class FormEngine(Protocol):
    """A model that answers forms."""

    @property
    def identity(self) -> Mapping[str, JsonScalar]:
        """Everything besides prompt and decoding that decides the answers."""

    @property
    def batch_size(self) -> int:
        """Prompts that are answered together; part of the identity where it can change an answer."""

    def generate(
        self, prompts: Sequence[FormPrompt], *, decoding: Decoding, seeds: Sequence[bytes] = ()
    ) -> list[Generated]:
        """Answer prompts.

        Args:
            prompts: At most `batch_size`.
            decoding: Token cap and temperature.
            seeds: One a prompt, where the temperature is not 0.
        """

    def score_options(self, prompt: FormPrompt, options: Sequence[str]) -> list[OptionScore]:
        """Say how probable each option is right after a prompt, in the order given."""


class UnreadTextsError(ModelError):
    """An engine turned out to say nothing of how probable texts are, or no numbers; it may answer all the same."""


@runtime_checkable
class TextReader(Protocol):
    """An engine that can also say how probable a text is to its model."""

    @property
    def reads_texts(self) -> bool:
        """Whether it does so as it was opened."""

    def read_texts(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        """Return log p of each token of each text after those before it, in nats; its first token has none.

        Args:
            texts: At most `batch_size`, as they are, without a chat template.

        Raises:
            UnreadTextsError: If it turns out that it cannot.
        """


def open_form_engine(
    name: str, *, source: str | Path, adapter: Path | None = None, options: Mapping[str, Any] | None = None
) -> FormEngine:
    """Open an engine by name.

    Args:
        name: One of `FORM_ENGINES`.
        source: Folder or Hugging Face id; for `openai`, the name under which the model is served.
        adapter: Folder of a completed adapter, or None for the base state.
        options: Fields of the engine's own options.

    Raises:
        InvalidRequestError: If there is no such engine or option.
        ModelError: If the model or adapter cannot be used.
    """
    require_form_engine(name)
    module, function = FORM_ENGINES[name]
    engine: FormEngine = getattr(importlib.import_module(module), function)(
        source=source, adapter=adapter, options=dict(options or {})
    )
    return engine


def shared_length(rows: Sequence[Sequence[int]] | Sequence[Sequence[str]]) -> int:
    """Return how many tokens a prompt and its options have in common, with a token of each option left.

    Args:
        rows: Tokens of the prompt alone, then of the prompt with each option.
    """
    length = 0
    for column in zip(*rows, strict=False):
        if len(set(column)) > 1:
            break
        length += 1
    return min(length, *(len(row) - 1 for row in rows[1:]))

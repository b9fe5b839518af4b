"""A model in this process: opened, identified, and asked for log-probabilities one question a forward.

float32 by default, one question a forward, nothing padded on the left: in bfloat16, or in batches of several questions,
a few draws in a thousand change with the shape of the batch (measured), and then a bank depends on how it was computed.
Here the shape of every forward is a function of its question alone.
"""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import torch
import transformers
from peft import PeftModel
from transformers import DynamicCache

from leakscale.adaptation.completion import Completion, read_completion
from leakscale.adaptation.loading import ModelFolder, quiet_libraries, use_threads
from leakscale.errors import ConflictError
from leakscale.inference.cases import Case, Question
from leakscale.inference.engines.checks import (
    Scorer,
    adapter_check,
    bos_check,
    constraint_check,
    order_check,
    repeat_check,
)
from leakscale.inference.engines.options import LocalOptions
from leakscale.inference.engines.prefix import PrefixCache
from leakscale.inference.engines.preflight import PreflightReport
from leakscale.inference.engines.tree import TokenTree, token_tree, tree_mask
from leakscale.inference.trie import ChoiceDistribution, choice_distribution

__all__ = ["LocalModel", "LocalOptions", "question_runs"]


class _Forward(enum.StrEnum):
    """How a question is read; part of the identity, because it decides the last bits."""

    SHARED_TREE = "shared-tree"
    """What it shares with others once, then the rest of the prompt and the trie of its answers in one forward."""
    TREE = "tree"
    """Prompt and trie in one forward."""
    CACHE = "cache"
    """The prompt, then its answers as rows."""


class LocalModel:
    """A model, with or without an adapter, in evaluation."""

    def __init__(self, folder: ModelFolder, *, adapter: Path | None, options: LocalOptions) -> None:
        """Load the weights.

        Raises:
            ModelError: If the model or the adapter folder cannot be used.
            ConflictError: If the adapter was trained on another model, tokenizer or chat template.
        """
        use_threads(options.thread_count)
        completion = None if adapter is None else _checked_completion(folder, adapter)
        self.tokenizer = folder.tokenizer
        self.device = torch.device(options.device)
        self.identity: dict[str, str | int | None] = {
            "model": folder.model_digest,
            "tokenizer": folder.tokenizer_digest,
            "template": folder.template_digest,
            "adapter": None if completion is None else completion.identity.adapter,
            "dtype": options.dtype,
            "attention": options.attention,
            "device": self.device.type,
            "thread_count": options.thread_count,
            "torch": torch.__version__,
            "transformers": transformers.__version__,
        }
        """What decides the numbers that this model returns, as far as it is known to."""
        self.strength = 1.0 if completion is None or completion.scaling is None else completion.scaling.strength
        """What the adapter's lora_B was multiplied by."""
        self.model: Any = folder.load(dtype=options.dtype, attention=options.attention, device=options.device)
        if adapter is not None:
            with quiet_libraries():
                self.model = PeftModel.from_pretrained(self.model, str(adapter)).eval()
        text_config = self.model.config.get_text_config()
        is_sliding = "sliding_attention" in (getattr(text_config, "layer_types", None) or ())
        self._dtype: torch.dtype = self.model.dtype
        self._window: int | None = text_config.sliding_window if is_sliding else None
        self._prefixes = PrefixCache(self._read_prefix)
        self._forward = self._try_forwards()
        self.identity["forward"] = self._forward.value

    def preflight(self, engine: Scorer, questions: Sequence[Question]) -> PreflightReport:
        """Try an engine on top of this model; its numbers must agree to the bit."""
        checks = [
            bos_check(questions, bos_id=self.tokenizer.bos_token_id),
            constraint_check(engine, questions),
            repeat_check(engine, questions),
            order_check(engine, questions),
        ]
        if self.has_adapter:
            checks.append(adapter_check(engine, questions, strength=self.strength))
        return PreflightReport(tuple(checks))

    @property
    def has_adapter(self) -> bool:
        """Tell whether an adapter is attached."""
        return self.identity["adapter"] is not None

    def score(self, question: Question, *, adapter: bool) -> list[list[float]]:
        """Return log p of every token of every answer, in nats, with the adapter on or off."""
        off = self.has_adapter and not adapter
        with self.model.disable_adapter() if off else contextlib.nullcontext():
            return self.answer_log_probabilities(
                question.prompt_ids, question.answer_ids, shared_length=question.shared_length, adapter=adapter
            )

    def distribution(self, question: Question) -> ChoiceDistribution:
        """Compute the distribution over the four answers of a question."""
        return choice_distribution(question.answer_ids, self.score(question, adapter=True))

    @torch.inference_mode()
    def answer_log_probabilities(
        self,
        prompt_ids: Sequence[int],
        answers: Sequence[Sequence[int]],
        *,
        shared_length: int = 0,
        adapter: bool = True,
    ) -> list[list[float]]:
        """Return log p of every token of every answer, in nats, from one forward; two where a model cannot.

        Args:
            prompt_ids: Of one prompt.
            answers: Token ids of each answer, none of which begins another.
            shared_length: Tokens of the prompt that other prompts begin with too, below its length; they are read by
                themselves, and kept. Decides the last bits, so it must be a function of the prompt.
            adapter: Whether the adapter is on, as the caller has set it.
        """
        if self._forward is _Forward.CACHE:
            return self._by_cache(prompt_ids, answers)
        shared = shared_length if self._forward is _Forward.SHARED_TREE else 0
        return self._by_tree(prompt_ids, answers, shared=shared, adapter=adapter)

    def _by_tree(
        self, prompt_ids: Sequence[int], answers: Sequence[Sequence[int]], *, shared: int, adapter: bool = True
    ) -> list[list[float]]:
        """Read what is left of the prompt, and the trie, in one forward."""
        tree = token_tree(prompt_ids, answers)
        before = {"cache": self._prefixes.after(tree.tokens[:shared], adapter=adapter)} if shared else {}
        logits = self.model(
            input_ids=torch.tensor([tree.tokens[shared:]], device=self.device),
            position_ids=torch.tensor([tree.positions[shared:]], device=self.device),
            attention_mask=self._masks(tree, shared),
            use_cache=bool(shared),
            logits_to_keep=len(tree.tokens) - tree.prompt_length + 1,
            **before,
        ).logits
        rows = torch.log_softmax(logits[0].double(), dim=-1)
        first = tree.prompt_length - 1
        places = torch.tensor([place - first for path in tree.readers for place in path], device=self.device)
        tokens = torch.tensor([token for answer in answers for token in answer], device=self.device)
        values: Iterator[float] = iter(rows[places, tokens].tolist())
        return [list(islice(values, len(answer))) for answer in answers]

    def _by_cache(self, prompt_ids: Sequence[int], answers: Sequence[Sequence[int]]) -> list[list[float]]:
        """Read the prompt once, then all answers as rows of one forward on copies of its cache.

        Rows are padded on the right, where nothing attends.
        """
        cache = DynamicCache(config=self.model.config)
        head = self.log_softmax([list(prompt_ids)], cache, keep=1)[0]
        length = max(map(len, answers)) - 1  # the last token of an answer is read by nobody
        cache.batch_repeat_interleave(len(answers))
        rows = [([*answer[:-1]] + [0] * length)[:length] for answer in answers]
        tails = self.log_softmax(rows, cache, keep=length)
        return [
            [float(row[token]) for row, token in zip(torch.cat([head, tail]), answer, strict=False)]
            for tail, answer in zip(tails, answers, strict=True)
        ]

    def _masks(self, tree: TokenTree, shared: int) -> torch.Tensor | dict[str, torch.Tensor]:
        """Return the mask of a tree, or one for each kind of layer where a model has sliding windows."""
        full = tree_mask(tree, dtype=self._dtype, first_row=shared).to(self.device)
        if self._window is None:
            return full
        window = tree_mask(tree, dtype=self._dtype, first_row=shared, window=self._window).to(self.device)
        return {"full_attention": full, "sliding_attention": window}

    @torch.inference_mode()
    def _read_prefix(self, tokens: tuple[int, ...]) -> DynamicCache:
        cache = DynamicCache(config=self.model.config)
        self.model(input_ids=torch.tensor([tokens], device=self.device), cache=cache, use_cache=True, logits_to_keep=1)
        return cache

    @torch.inference_mode()
    def _try_forwards(self) -> _Forward:
        """Return the first way to read a question that computes what the model computes over sequences.

        Tried once on made-up tokens, because an architecture may ignore a mask or a position that it is given. A layer
        with a sliding window forgets the beginning of a prefix, where the mask still has it.
        """
        prompt, answers = range(3, 35), [(5, 6, 7), (5, 8, 9, 7), (5, 8, 6, 7), (9, 7)]
        tolerance = 1e-3 if self._dtype == torch.float32 else 0.1
        by_cache = torch.tensor(list(chain.from_iterable(self._by_cache(prompt, answers))))
        ways = {_Forward.TREE: 0} if self._window is not None else {_Forward.SHARED_TREE: 16, _Forward.TREE: 0}
        for way, shared in ways.items():
            try:
                by_tree = torch.tensor(list(chain.from_iterable(self._by_tree(prompt, answers, shared=shared))))
            except (TypeError, ValueError, RuntimeError, KeyError, AttributeError):
                continue
            if (by_tree - by_cache).abs().max() < tolerance:
                return way
        return _Forward.CACHE

    def log_softmax(self, rows: list[list[int]], cache: DynamicCache, *, keep: int) -> torch.Tensor:
        """Return log p of shape (rows, keep, vocabulary), in double precision from the logits on."""
        ids = torch.tensor(rows, device=self.device)
        logits = self.model(input_ids=ids, cache=cache, use_cache=True, logits_to_keep=keep).logits
        return torch.log_softmax(logits.double(), dim=-1)


def question_runs(cases: Iterable[Case]) -> Iterator[list[Case]]:
    """Split cases into runs of consecutive draws of one question."""
    run: list[Case] = []
    for case in cases:
        if run and (case.question.index != run[0].question.index or case.index != run[-1].index + 1):
            yield run
            run = []
        run.append(case)
    if run:
        yield run


def _checked_completion(folder: ModelFolder, adapter: Path) -> Completion:
    completion = read_completion(adapter)
    identity = completion.identity
    pairs = {
        "model": (identity.model, folder.model_digest),
        "tokenizer": (identity.tokenizer, folder.tokenizer_digest),
        "chat template": (identity.template, folder.template_digest),
    }
    differing = [name for name, (trained, loaded) in pairs.items() if trained != loaded]
    if differing:
        raise ConflictError(
            f"adapter '{adapter}' was trained on another {', '.join(differing)} than '{folder.path}'; give the model "
            "that it was trained on"
        )
    return completion

"""A model in this process: opened, identified, and asked for log-probabilities one question a forward.

float32 by default, one question a forward, nothing padded on the left: in bfloat16, or in batches of several questions,
a few draws in a thousand change with the shape of the batch (measured), and then a bank depends on how it was computed.
Here the shape of every forward is a function of its question alone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
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
from leakscale.inference.engines.preflight import PreflightReport
from leakscale.inference.engines.tree import TokenTree, token_tree, tree_mask
from leakscale.inference.trie import ChoiceDistribution, choice_distribution

__all__ = ["LocalModel", "LocalOptions", "question_runs"]


@dataclass(frozen=True, slots=True)
class LocalOptions:
    """How a local model computes; all of it is part of its identity."""

    dtype: str = "float32"
    """`float32` or `bfloat16`. In bfloat16 draws are repeatable on one machine, and coarser everywhere."""
    attention: str = "sdpa"
    """`sdpa` or `eager`."""
    device: str = "cpu"
    """In torch's words, e.g. `cuda:0`."""
    thread_count: int = 2
    """CPU threads. Fixed, not read off the machine, because the order of a sum decides its last bits."""


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
        self._takes_trees = self._try_trees()
        self.identity["forward"] = "tree" if self._takes_trees else "cache"

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
            return self.answer_log_probabilities(question.prompt_ids, question.answer_ids)

    def distribution(self, question: Question) -> ChoiceDistribution:
        """Compute the distribution over the four answers of a question."""
        return choice_distribution(question.answer_ids, self.score(question, adapter=True))

    @torch.inference_mode()
    def answer_log_probabilities(
        self, prompt_ids: Sequence[int], answers: Sequence[Sequence[int]]
    ) -> list[list[float]]:
        """Return log p of every token of every answer, in nats, from one forward; two where a model cannot."""
        if self._takes_trees:
            return self._by_tree(prompt_ids, answers)
        return self._by_cache(prompt_ids, answers)

    def _by_tree(self, prompt_ids: Sequence[int], answers: Sequence[Sequence[int]]) -> list[list[float]]:
        """Read prompt and trie in one forward."""
        tree = token_tree(prompt_ids, answers)
        logits = self.model(
            input_ids=torch.tensor([tree.tokens], device=self.device),
            position_ids=torch.tensor([tree.positions], device=self.device),
            attention_mask=self._masks(tree),
            use_cache=False,
            logits_to_keep=len(tree.tokens) - tree.prompt_length + 1,
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

    def _masks(self, tree: TokenTree) -> torch.Tensor | dict[str, torch.Tensor]:
        """Return the mask of a tree, or one for each kind of layer where a model has sliding windows."""
        config = self.model.config.get_text_config()
        full = tree_mask(tree, dtype=self.model.dtype).to(self.device)
        if "sliding_attention" not in (getattr(config, "layer_types", None) or ()):
            return full
        window = tree_mask(tree, dtype=self.model.dtype, window=config.sliding_window).to(self.device)
        return {"full_attention": full, "sliding_attention": window}

    @torch.inference_mode()
    def _try_trees(self) -> bool:
        """Tell whether the model computes over a tree what it computes over sequences.

        Tried once on made-up tokens, because an architecture may ignore a mask or a position that it is given.
        """
        prompt, answers = range(3, 35), [(5, 6, 7), (5, 8, 9, 7), (5, 8, 6, 7), (9, 7)]
        tolerance = 1e-3 if self.model.dtype == torch.float32 else 0.1
        try:
            by_tree = torch.tensor(list(chain.from_iterable(self._by_tree(prompt, answers))))
        except (TypeError, ValueError, RuntimeError, KeyError, AttributeError):
            return False
        by_cache = torch.tensor(list(chain.from_iterable(self._by_cache(prompt, answers))))
        return bool((by_tree - by_cache).abs().max() < tolerance)

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

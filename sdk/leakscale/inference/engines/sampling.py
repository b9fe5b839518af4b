"""Engine `transformers`: draws token by token, as a decoder would, each prefix computed once.

Source: LeakScale F.2. Deviation: temperature 1 and no truncation, whatever the model's own generation config says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from leakscale.adaptation.loading import ModelFolder, open_model_folder
from leakscale.errors import InvalidRequestError
from leakscale.inference.attempts import Attempt, Mode
from leakscale.inference.cases import Case, Question
from leakscale.inference.engines.grammar import FreeGrammar, GuidedGrammar
from leakscale.inference.engines.local import LocalModel, LocalOptions, question_runs
from leakscale.inference.engines.preflight import PreflightReport, parse_options
from leakscale.inference.engines.walk import walk

__all__ = ["SamplingEngine", "SamplingOptions", "open_sampling"]


@dataclass(frozen=True, slots=True)
class SamplingOptions(LocalOptions):
    """Options of the engine `transformers`."""

    constrained: bool = True
    """Whether only tokens that lead to one of the four answers may be drawn."""
    tokens_max: int = 64
    """Length of the first tier, in tokens; constrained answers are never cut off."""
    tokens_max_second: int = 256
    """Length of the second and last tier."""


class SamplingEngine:
    """A local model that draws token by token."""

    def __init__(
        self, folder: ModelFolder, *, adapter: Path | None = None, options: SamplingOptions | None = None
    ) -> None:
        """Load the model.

        Raises:
            InvalidRequestError: If the second length tier is not longer than the first.
            ModelError: If the model or the adapter folder cannot be used.
            ConflictError: If the adapter was trained on another model, tokenizer or chat template.
        """
        chosen = options or SamplingOptions()
        self._tiers = (chosen.tokens_max, chosen.tokens_max_second)
        if not 0 < chosen.tokens_max < chosen.tokens_max_second:
            raise InvalidRequestError(f"length tiers are {self._tiers} tokens; the second must be the longer one")
        self.mode = Mode.SAMPLED_GUIDED if chosen.constrained else Mode.SAMPLED_FREE
        plain = LocalOptions(**{field.name: getattr(chosen, field.name) for field in fields(LocalOptions)})
        self.local = LocalModel(folder, adapter=adapter, options=plain)
        self._end_ids = _end_ids(self.local.model)
        tiers = {"tokens_max": self._tiers[0], "tokens_max_second": self._tiers[1]}
        self.identity: Mapping[str, str | int | None] = {
            "engine": "transformers",
            "temperature": 1,
            **self.local.identity,
            **({} if chosen.constrained else tiers),
        }

    def preflight(self, questions: Sequence[Question]) -> PreflightReport:
        """Try the model on a few questions; nothing is asked of a bank's own seeds."""
        return self.local.preflight(self, questions)

    def score(self, question: Question, *, adapter: bool) -> list[list[float]]:
        """Return log p of every token of every answer, in nats, with the adapter on or off."""
        return self.local.score(question, adapter=adapter)

    def answer(self, cases: Iterable[Case]) -> Iterator[Attempt]:
        """Draw the answers of each run of draws of one question together."""
        for run in question_runs(cases):
            if self.mode is Mode.SAMPLED_GUIDED:
                yield from walk(self.local, run[0].question, GuidedGrammar(run[0].question), run)
            else:
                yield from self._free(run)

    def _free(self, run: Sequence[Case]) -> Iterator[Attempt]:
        """Draw with nothing forced; what is cut off in the first length tier is drawn again in the second."""
        question, left = run[0].question, list(run)
        for tier, tokens_max in enumerate(self._tiers):
            grammar = FreeGrammar(self.local.tokenizer, self._end_ids | {question.answer_ids[0][-1]}, tokens_max)
            attempts = list(
                walk(self.local, question, grammar, [case for case in left if case.tier <= tier], tier=tier)
            )
            yield from attempts
            finished = {attempt.case for attempt in attempts if attempt.is_terminal}
            left = [case for case in left if case.index not in finished]


def _end_ids(model: Any) -> frozenset[int]:
    """Return the tokens that end a turn, in the words of the model's own generation config."""
    ids = model.generation_config.eos_token_id
    return frozenset(() if ids is None else (ids,) if isinstance(ids, int) else ids)


def open_sampling(*, model: str | Path, adapter: Path | None, options: Mapping[str, Any]) -> SamplingEngine:
    """Open the engine `transformers`; see `open_engine`."""
    parsed = parse_options(SamplingOptions, options)
    return SamplingEngine(open_model_folder(model), adapter=adapter, options=parsed)

"""Engine `exact`: the distribution of each question once, all its draws from that.

No draw costs a forward of its own, and what the draws estimate is known beside them without sampling noise.

Source: LeakScale B.2 (constrained choice), F.2. Deviation: the paper samples a guided decoder; here the distribution
that such a decoder samples from is computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from leakscale.adaptation.loading import ModelFolder, open_model_folder
from leakscale.errors import InvalidRequestError
from leakscale.inference.attempts import Attempt, Mode, Outcome
from leakscale.inference.cases import Case, Question
from leakscale.inference.engines.local import LocalModel, LocalOptions, question_runs
from leakscale.inference.engines.preflight import PreflightReport, parse_options

__all__ = ["ExactEngine", "ExactOptions", "open_exact"]


@dataclass(frozen=True, slots=True)
class ExactOptions(LocalOptions):
    """Options of the engine `exact`."""

    mode: str = Mode.EXACT_GUIDED.value
    """`exact-guided` or `exact-conditional`."""


class ExactEngine:
    """A local model whose draws come from its exact distribution over the four answers."""

    def __init__(
        self,
        folder: ModelFolder,
        *,
        adapter: Path | None = None,
        mode: Mode = Mode.EXACT_GUIDED,
        options: LocalOptions | None = None,
    ) -> None:
        """Load the model.

        Raises:
            InvalidRequestError: If the mode is not an exact one.
            ModelError: If the model or the adapter folder cannot be used.
            ConflictError: If the adapter was trained on another model, tokenizer or chat template.
        """
        if mode not in {Mode.EXACT_GUIDED, Mode.EXACT_CONDITIONAL}:
            raise InvalidRequestError(f"engine 'exact' has no mode '{mode.value}'; choose exact-guided or -conditional")
        self.mode = mode
        self.local = LocalModel(folder, adapter=adapter, options=options or LocalOptions())
        self.identity: Mapping[str, str | int | None] = {"engine": "exact", **self.local.identity}

    def preflight(self, questions: Sequence[Question]) -> PreflightReport:
        """Try the model on a few questions; nothing is asked of a bank's own seeds."""
        return self.local.preflight(self, questions)

    def score(self, question: Question, *, adapter: bool) -> list[list[float]]:
        """Return log p of every token of every answer, in nats, with the adapter on or off."""
        return self.local.score(question, adapter=adapter)

    def answer(self, cases: Iterable[Case]) -> Iterator[Attempt]:
        """Compute one distribution for each run of draws of one question."""
        for run in question_runs(cases):
            distribution = self.local.distribution(run[0].question)
            yield Attempt(run[0].index, Outcome.COMPLETED, case_count=len(run), distribution=distribution)


def open_exact(*, model: str | Path, adapter: Path | None, options: Mapping[str, Any]) -> ExactEngine:
    """Open the engine `exact`; see `open_engine`."""
    parsed = parse_options(ExactOptions, options)
    if parsed.mode not in set(Mode):
        raise InvalidRequestError(f"engine 'exact' has no mode '{parsed.mode}'; choose exact-guided or -conditional")
    local = LocalOptions(**{field.name: getattr(parsed, field.name) for field in fields(LocalOptions)})
    return ExactEngine(open_model_folder(model), adapter=adapter, mode=Mode(parsed.mode), options=local)

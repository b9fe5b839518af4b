"""Engine `openai`: any OpenAI-compatible endpoint, such as vLLM.

One request a draw, each with its own seed, many at a time. The endpoint's arithmetic is its own: in bfloat16, log p
depends on the batch that a request happens to be in, and some draws with it. The preflight measures by how much.

Source: LeakScale F.1 (retries only for transport failures or the length-tier transition), F.2 (seed of every request).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

from leakscale.errors import InvalidRequestError
from leakscale.inference.attempts import TIER_COUNT, Attempt, Mode, Outcome
from leakscale.inference.cases import Case, Question
from leakscale.inference.engines.asking import ConnectionOptions, Endpoint, Request
from leakscale.inference.engines.concurrency import in_parallel
from leakscale.inference.engines.dialect import (
    CONSTRAINTS,
    PROMPTS,
    Completion,
    read_completion,
    read_scores,
    request,
    score_request,
)
from leakscale.inference.engines.endpoint_preflight import endpoint_preflight
from leakscale.inference.engines.preflight import PreflightReport, parse_options
from leakscale.inference.engines.transport import TransportFailure

__all__ = ["EndpointEngine", "EndpointOptions", "adapter_facts", "open_endpoint"]


@dataclass(frozen=True, slots=True)
class EndpointOptions(ConnectionOptions):
    """How an endpoint is asked for draws. Those that decide answers are part of the engine's identity."""

    prompts: str = "tokens"
    """`tokens` (the frozen token ids) or `messages`."""
    constraint: str = "structured-outputs"
    """`structured-outputs` (vLLM from 0.12), `guided-choice` (before), `json-schema` (OpenAI), or `none`."""
    tokens_max: int = 64
    """Length of the first tier, in tokens."""
    tokens_max_second: int = 256
    """Length of the second and last tier."""
    has_log_probabilities: bool = True
    """Whether the endpoint scores prompt tokens. Without, nobody sees whether the order of requests matters, and an
    adapter is refused, because nobody sees whether it acts."""
    order_tolerance_nats: float = 1e-6
    """How far a log-probability may move with the order of the requests."""


class EndpointEngine:
    """A model behind an endpoint."""

    def __init__(self, model: str, *, adapter: Path | None, options: EndpointOptions) -> None:
        """Check the options; nothing is sent yet.

        Raises:
            InvalidRequestError: If an option has no such value, or one of `adapter` and `served_adapter` lacks.
            ModelError: If `adapter` is no completed adapter.
        """
        _check(options, adapter)
        self._options = options
        self.base_name = options.served_model or model
        self.served_name = options.served_adapter or self.base_name
        self._tiers = (options.tokens_max, options.tokens_max_second)
        self._endpoint = Endpoint(options)
        self.mode = Mode.SAMPLED_FREE if options.constraint == "none" else Mode.SAMPLED_GUIDED
        digest, self.strength = (None, 1.0) if adapter is None else adapter_facts(adapter)
        self.identity: Mapping[str, str | int | float | None] = {
            "engine": "openai",
            "served_model": self.base_name,
            "served_adapter": options.served_adapter,
            "adapter": digest,
            "prompts": options.prompts,
            "constraint": options.constraint,
            "temperature": 1,
            "tokens_max": options.tokens_max,
            "tokens_max_second": options.tokens_max_second,
            **({"any_reply_model": True} if options.any_reply_model else {}),
        }

    @property
    def options(self) -> EndpointOptions:
        """The options it was opened with."""
        return self._options

    def preflight(self, questions: Sequence[Question]) -> PreflightReport:
        """Try the endpoint on a few questions; see `endpoint_preflight`.

        Raises:
            UnavailableError: If it cannot be reached.
        """
        self._endpoint.patience.announce(self.served_name)
        return endpoint_preflight(self, questions)

    def answer(self, cases: Iterable[Case]) -> Iterator[Attempt]:
        """Ask for every case, `concurrency` at a time; attempts come as they end.

        Raises:
            ModelError: If an answer ended in a way that is none of the model's own, such as a filter, or names another
                model than was asked for.
            UnavailableError: If one case failed `transport_failures_max` times in a row.
            LeakScaleError: If the endpoint refuses a request for what it is.
        """
        return in_parallel(self._ask, cases, concurrency=self._options.concurrency)

    def score(self, question: Question, *, adapter: bool) -> list[list[float]]:
        """Return log p of every token of every answer, in nats, from the model with the adapter or without.

        Raises:
            ModelError: If the endpoint does not say, or answers as another model.
            UnavailableError: If it cannot be reached.
        """
        model = self.served_name if adapter else self.base_name
        return [
            self._endpoint.ask(
                score_request(question, answer, model=model), partial(read_scores, question=question, answer=answer)
            )
            for answer in range(len(question.answers))
        ]

    def complete(self, case: Case) -> Completion:
        """Ask once for one case, patiently.

        Raises:
            ModelError: If the answer is not the asked model's own.
            UnavailableError: If the endpoint cannot be reached.
        """
        return self._endpoint.ask(self._request(case, 0), read_completion)

    def _request(self, case: Case, tier: int) -> Request:
        return request(
            case,
            model=self.served_name,
            prompts=self._options.prompts,
            constraint=self._options.constraint,
            tokens_max=self._tiers[tier],
        )

    def _ask(self, case: Case, stop: Event) -> Iterator[Attempt]:
        """Ask for one case until an attempt is terminal, or the endpoint counts as unavailable."""
        tier, failure_count = case.tier, 0
        while tier < TIER_COUNT and not stop.is_set():
            try:
                completion = read_completion(self._endpoint.post(self._request(case, tier)))
            except TransportFailure as failure:
                failure_count += 1
                yield Attempt(case.index, Outcome.TRANSPORT, tier=tier, detail=failure.detail)
                self._endpoint.patience.bear(failure, failure_count, stop)
                continue
            failure_count = 0
            outcome = Outcome.LENGTH if completion.is_cut_off else Outcome.COMPLETED
            attempt = Attempt(case.index, outcome, tier=tier, text=completion.text)
            yield attempt
            tier = TIER_COUNT if attempt.is_terminal else tier + 1


def open_endpoint(*, model: str | Path, adapter: Path | None, options: Mapping[str, Any]) -> EndpointEngine:
    """Open the engine `openai`; see `open_engine`."""
    return EndpointEngine(str(model), adapter=adapter, options=parse_options(EndpointOptions, options))


def _check(options: EndpointOptions, adapter: Path | None) -> None:
    for name, known in (("prompts", PROMPTS), ("constraint", CONSTRAINTS)):
        value = getattr(options, name)
        if value not in known:
            raise InvalidRequestError(f"engine option '{name}' is '{value}'; choose among {', '.join(known)}")
    if not 0 < options.tokens_max < options.tokens_max_second:
        raise InvalidRequestError(
            f"length tiers are {options.tokens_max} and {options.tokens_max_second} tokens; the second must be longer"
        )
    if (adapter is None) != (options.served_adapter is None):
        raise InvalidRequestError(
            "an adapted bank needs both the adapter's folder and 'served_adapter', the name under which the endpoint "
            "serves it; a base bank takes neither"
        )


def adapter_facts(folder: Path) -> tuple[str, float]:
    """Return digest and strength of a completed adapter."""
    from leakscale.adaptation.completion import read_completion as read_record  # noqa: PLC0415  loads torch

    record = read_record(folder)
    return record.identity.adapter, 1.0 if record.scaling is None else record.scaling.strength

"""Try an endpoint on a few questions: each check is a way in which a real server was seen to answer something else."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from typing import Protocol

from leakscale.errors import InvalidRequestError, ModelError
from leakscale.inference.attempts import Mode
from leakscale.inference.cases import Case, Question
from leakscale.inference.engines.checks import (
    Scorer,
    adapter_check,
    constraint_check,
    order_check,
    probe_cases,
    repeat_check,
)
from leakscale.inference.engines.dialect import Completion
from leakscale.inference.engines.preflight import Check, PreflightReport

__all__ = ["endpoint_preflight"]


class _Options(Protocol):
    @property
    def served_adapter(self) -> str | None: ...
    @property
    def has_log_probabilities(self) -> bool: ...
    @property
    def order_tolerance_nats(self) -> float: ...
    @property
    def concurrency(self) -> int: ...


class _Endpoint(Scorer, Protocol):
    strength: float

    @property
    def options(self) -> _Options: ...

    def complete(self, case: Case) -> Completion: ...


def endpoint_preflight(engine: _Endpoint, questions: Sequence[Question]) -> PreflightReport:
    """Try prompt, constraint, seed, order and adapter of an endpoint.

    Raises:
        UnavailableError: If it cannot be reached.
    """
    options = engine.options
    constrained = [_with_strange_answers(question) for question in questions]
    checks = [
        _prompt_check(engine, questions[0]),
        constraint_check(engine, questions if engine.mode is Mode.SAMPLED_FREE else constrained),
        repeat_check(engine, questions),
        _order(engine, questions),
    ]
    if options.served_adapter is not None:
        checks.append(_adapter(engine, questions))
    return PreflightReport(tuple(checks))


def _with_strange_answers(question: Question) -> Question:
    """Replace the four answers by strings that no model writes unless it is made to."""
    values = [hashlib.sha256(f"{question.prompt_digest}{place}".encode()).hexdigest()[:16] for place in range(4)]
    answers = tuple(json.dumps({"choice": value}, separators=(",", ":")) for value in values)
    return dataclasses.replace(question, answers=answers)


def _prompt_check(engine: _Endpoint, question: Question) -> Check:
    """Check that the server reads as many prompt tokens as were frozen: one BOS more would be one more."""
    completion = engine.complete(probe_cases([question])[0])
    found, frozen = completion.prompt_token_count, len(question.prompt_ids)
    return Check("one-bos", found == frozen, f"the server reads {found} prompt tokens, {frozen} were frozen")


def _order(engine: _Endpoint, questions: Sequence[Question]) -> Check:
    if not engine.options.has_log_probabilities:
        return Check("order-independent", True, "not tried: the endpoint is said to have no log-probabilities")
    try:
        options = engine.options
        return order_check(
            engine, questions, tolerance_nats=options.order_tolerance_nats, concurrency=options.concurrency
        )
    except (ModelError, InvalidRequestError) as error:
        return Check("order-independent", False, str(error))


def _adapter(engine: _Endpoint, questions: Sequence[Question]) -> Check:
    if not engine.options.has_log_probabilities:
        return Check("adapter-active", False, "cannot be tried on an endpoint without log-probabilities")
    try:
        return adapter_check(engine, questions, strength=engine.strength)
    except (ModelError, InvalidRequestError) as error:
        return Check("adapter-active", False, str(error))

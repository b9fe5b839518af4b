"""The OpenAI-compatible wire: what a case becomes on it, and what comes back.

Two ways to ask: `completions` with the frozen token ids, which leaves nothing to the server's own chat template, and
`chat/completions` with messages, for servers that take no ids. Three ways to constrain: vLLM's choice in its present
and its former spelling, and the JSON schema of the OpenAI API.

Source: LeakScale B.2 (strict family-specific schema).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from leakscale.errors import ModelError
from leakscale.inference.cases import Case, Question
from leakscale.inference.engines.transport import TransportFailure

__all__ = [
    "CONSTRAINTS",
    "PROMPTS",
    "Completion",
    "check_reply_model",
    "read_completion",
    "read_scores",
    "request",
    "score_request",
]

CONSTRAINTS: Final = ("structured-outputs", "guided-choice", "json-schema", "none")
"""vLLM from 0.12, vLLM before, the OpenAI API, nothing."""
PROMPTS: Final = ("tokens", "messages")

_COMPLETE: Final = "stop"
_CUT_OFF: Final = "length"
_BROKEN_OFF: Final = frozenset({None, "abort", "error"})
"""The server ended the request, not the model its answer (vLLM); nothing is known about the rest of it."""

_NEUTRAL: Final[Mapping[str, Any]] = {"temperature": 1, "top_p": 1}
_NEUTRAL_VLLM: Final[Mapping[str, Any]] = {**_NEUTRAL, "top_k": -1, "min_p": 0, "repetition_penalty": 1}
"""Said on every request: a server takes what is not said from the model's generation config, and samples from another
distribution."""


@dataclass(frozen=True, slots=True)
class Completion:
    """One whole answer of an endpoint."""

    text: str
    is_cut_off: bool
    prompt_token_count: int | None
    """As the server counts them; None if it does not say."""


def request(case: Case, *, model: str, prompts: str, constraint: str, tokens_max: int) -> tuple[str, dict[str, Any]]:
    """Return path and body that ask for one draw.

    The seed is 53 bits of the case's own, because JSON readers round larger integers.
    """
    question = case.question
    is_vllm = constraint in {"structured-outputs", "guided-choice"}
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": tokens_max,
        "seed": int.from_bytes(case.seed[:8], "big") >> 11,
        **(_NEUTRAL_VLLM if is_vllm else _NEUTRAL),
        **_constraint(constraint, question),
    }
    if prompts == "messages":
        messages = [{"role": turn.role, "content": turn.content} for turn in question.prompt]
        return "chat/completions", {**body, "messages": messages}
    return "completions", {**body, "prompt": list(question.prompt_ids)}


def check_reply_model(fields: Mapping[str, Any], asked: str) -> None:
    """Refuse an answer that another model gave; one that names no model is not refused.

    Does not guard against a server that repeats the name it was asked for.

    Raises:
        ModelError: If it names another model than `asked`.
    """
    found = fields.get("model")
    if found is not None and found != asked:
        raise ModelError(
            f"the endpoint was asked for model '{asked}' and answers as {str(found)[:120]!r}; set served_model (of an "
            "adapter, served_adapter) to the name of the model that is meant, or, where both names are that model's, "
            "any_reply_model=true"
        )


def read_completion(fields: Mapping[str, Any]) -> Completion:
    """Read an answer to `request`.

    Raises:
        TransportFailure: If it is no such answer, or the server broke it off, so that nothing is known about what the
            model would have written.
        ModelError: If something else than the model ended it, such as a filter or a tool call; asked again, it would
            end in the same way.
    """
    text, reason, prompt_token_count = _read(fields)
    if reason in _BROKEN_OFF:
        raise TransportFailure(f"answer broken off: finish_reason {reason or 'missing'}")
    if reason not in {_COMPLETE, _CUT_OFF}:
        raise ModelError(
            f"the endpoint ended an answer with finish_reason '{reason}', and only '{_COMPLETE}' and '{_CUT_OFF}' are "
            "the model's own; serve it without filters, tools and repetition detection, and run the same command "
            "again: it goes on"
        )
    return Completion(text, reason == _CUT_OFF, prompt_token_count)


def _read(fields: Mapping[str, Any]) -> tuple[str, str | None, int | None]:
    """Return text, reason of its end and number of prompt tokens.

    Raises:
        TransportFailure: If it is no completion.
    """
    try:
        choice = fields["choices"][0]
        text = choice["message"]["content"] if "message" in choice else choice["text"]
        reason = choice.get("finish_reason")
        for name, value in (("text", text), ("finish_reason", reason)):
            if not (value is None or isinstance(value, str)):
                raise TypeError(f"{name} of choices[0] is {type(value).__name__}")
        return text or "", reason, (fields.get("usage") or {}).get("prompt_tokens")
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise TransportFailure(f"a body that is no completion ({type(error).__name__}: {error})") from error


def score_request(question: Question, answer: int, *, model: str) -> tuple[str, dict[str, Any]]:
    """Return path and body that ask how probable one answer's tokens are after the prompt."""
    return "completions", {
        "model": model,
        "prompt": [*question.prompt_ids, *question.answer_ids[answer]],
        "echo": True,
        "logprobs": 1,
        "max_tokens": 1,
        **_NEUTRAL,
    }


def read_scores(fields: Mapping[str, Any], question: Question, answer: int) -> list[float]:
    """Read log p of an answer's tokens, in nats, out of an answer to `score_request`.

    Raises:
        TransportFailure: If it is no such answer at all.
        ModelError: If the endpoint answers, and does not say.
    """
    _read(fields)
    first = len(question.prompt_ids)
    stop = first + len(question.answer_ids[answer])
    try:
        values = fields["choices"][0]["logprobs"]["token_logprobs"]
        return [float(value) for value in _slice(values, first, stop)]
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ModelError(
            "the endpoint gives no log-probabilities of prompt tokens (echo); serve the model with vLLM, or set "
            "has_log_probabilities to false"
        ) from error


def _slice(values: Sequence[Any], first: int, stop: int) -> Sequence[Any]:
    if len(values) < stop:
        raise IndexError(f"{len(values)} log-probabilities of {stop}")
    return values[first:stop]


def _constraint(constraint: str, question: Question) -> dict[str, Any]:
    match constraint:
        case "structured-outputs":
            return {"structured_outputs": {"choice": list(question.answers)}}
        case "guided-choice":
            return {"guided_choice": list(question.answers)}
        case "json-schema":
            schema = {"name": "choice", "strict": True, "schema": question.schema}
            return {"response_format": {"type": "json_schema", "json_schema": schema}}
        case _:
            return {}

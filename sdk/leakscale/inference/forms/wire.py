"""The OpenAI-compatible wire of an audit: what a prompt becomes on it, and what comes back.

A chat prompt goes to `chat/completions`, a plain text to `completions`. How probable a text is, is read in one of two
spellings: `echo` of the OpenAI API's completions, or vLLM's `prompt_logprobs`. Both list every token of the text that
the server itself made, so that nothing has to be known of its tokenizer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from leakscale.errors import ModelError
from leakscale.inference.engines.asking import Request
from leakscale.inference.engines.dialect import read_completion
from leakscale.inference.forms import Decoding, FormPrompt, Generated
from leakscale.inference.forms.options import TEXT_SCORES

__all__ = ["ScoredToken", "generate_request", "read_generated", "read_text", "text_request"]

_NEUTRAL: Final[Mapping[str, Any]] = {"top_p": 1}
_NEUTRAL_VLLM: Final[Mapping[str, Any]] = {**_NEUTRAL, "top_k": -1, "min_p": 0, "repetition_penalty": 1}
"""Said on every request: a server takes what is not said from the model's generation config."""
_COUNT_MAX: Final = 2**31 - 1
_ROUNDING_NATS: Final = 1e-3
"""How far above 0 the log-probability of a certain token may come out in low precision."""
_TOKEN_CHARACTERS_MAX: Final = 1024
"""More than any vocabulary has in one token; runs of blanks are the longest."""
_SHOWN_MAX: Final = 40
"""Characters of a wrong value in a message."""


@dataclass(frozen=True, slots=True)
class ScoredToken:
    """A token of a text, and how probable it was after those before it."""

    name: str
    """As the server tells it apart: its id, or its text."""
    log_probability: float | None
    """In nats; None of the first token, which nothing comes before."""


def generate_request(
    prompt: FormPrompt,
    *,
    model: str,
    decoding: Decoding,
    seed: bytes | None,
    is_vllm: bool,
    token_cap: str,
    with_confidence: bool,
) -> Request:
    """Return path and body that ask for one answer.

    The seed is 53 bits of the answer's own, because JSON readers round larger integers; a greedy answer needs none.
    """
    body: dict[str, Any] = {
        "model": model,
        token_cap: decoding.token_count_max,
        "temperature": decoding.temperature,
        **(_NEUTRAL_VLLM if is_vllm else _NEUTRAL),
        **({} if seed is None else {"seed": int.from_bytes(seed[:8], "big") >> 11}),
    }
    if not prompt.is_chat:
        return "completions", {**body, "prompt": prompt.text, **({"logprobs": 1} if with_confidence else {})}
    messages = [{"role": turn.role, "content": turn.content} for turn in prompt.turns]
    return "chat/completions", {**body, "messages": messages, **({"logprobs": True} if with_confidence else {})}


def read_generated(fields: Mapping[str, Any], *, token_count_max: int, with_confidence: bool) -> Generated:
    """Read an answer to `generate_request`.

    The confidence is the mean over the tokens that the server lists; whether the end of the turn is among them is the
    server's own way, and the same for every form.

    Raises:
        TransportFailure: If it is no answer, or the server broke it off.
        ModelError: If something else than the model ended it, what was asked for is not said, or no model could have
            written that much under the cap.
    """
    completion = read_completion(fields)
    if len(completion.text) > token_count_max * _TOKEN_CHARACTERS_MAX:
        raise ModelError(
            f"the text of choices[0] has {len(completion.text):,} characters, and {token_count_max} tokens were the "
            "most that was asked for; see what serves there, and that token_cap is the field it reads"
        )
    values = _answer_values(fields) if with_confidence else []
    confidence = sum(values) / len(values) if values else None
    return Generated(completion.text, _token_count(fields, values), completion.is_cut_off, confidence)


def text_request(text: str, *, model: str, spelling: str) -> Request:
    """Return path and body that ask how probable each token of a text is.

    Args:
        text: As the model reads it, without a chat template.
        model: As it is served.
        spelling: `echo` or `prompt-logprobs`.
    """
    body: dict[str, Any] = {"model": model, "prompt": text, "max_tokens": 1, "temperature": 1, **_NEUTRAL}
    if spelling == "echo":
        # vLLM's own word for names that differ wherever two tokens do; other servers pass it over.
        return "completions", {**body, "echo": True, "logprobs": 1, "return_tokens_as_token_ids": True}
    return "completions", {**body, "prompt_logprobs": 0}


def read_text(fields: Mapping[str, Any], *, spelling: str) -> list[ScoredToken]:
    """Read every token of the text out of an answer to `text_request`.

    Raises:
        TransportFailure: If it is no answer at all.
        ModelError: If the endpoint answers, and does not say, or no log-probabilities.
    """
    read_completion(fields)
    try:
        choice = fields["choices"][0]
        tokens = _echoed(choice["logprobs"], fields) if spelling == "echo" else _listed(choice["prompt_logprobs"])
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(
            f"the endpoint gives no log-probabilities of prompt tokens ({spelling}), so it cannot score options or "
            f"texts; generated answers need none. Serve the model with vLLM, set text_scores to another of "
            f"{', '.join(TEXT_SCORES)}, or audit a bank whose answers are generated (numeric, exact)"
        ) from error
    return tokens


def _token_count(fields: Mapping[str, Any], values: Sequence[float]) -> int:
    count = (fields.get("usage") or {}).get("completion_tokens", len(values) or None)
    if count is None:
        raise ModelError(
            "the endpoint says neither how many tokens an answer has (usage.completion_tokens) nor their "
            "log-probabilities; serve the model with something that does"
        )
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= _COUNT_MAX:
        raise ModelError(
            f"usage.completion_tokens is {_short(count)}, and a number of tokens is whole, from 0 to {_COUNT_MAX}; "
            "serve the model with something that counts them"
        )
    return count


def _answer_values(fields: Mapping[str, Any]) -> list[float]:
    choice = fields["choices"][0]
    try:
        found = choice["logprobs"]
        is_chat = "content" in found
        values = [each["logprob"] for each in found["content"]] if is_chat else list(found["token_logprobs"])
    except (KeyError, TypeError) as error:
        raise ModelError(
            "the endpoint gives no log-probabilities of its answers; set has_confidences to false, and the detectors "
            "that read them are left out"
        ) from error
    field = "content[{}].logprob" if is_chat else "token_logprobs[{}]"
    return [
        _log_probability(value, f"choices[0].logprobs.{field.format(place)}")
        for place, value in enumerate(values)
        if value is not None
    ]


def _echoed(found: Mapping[str, Any], fields: Mapping[str, Any]) -> list[ScoredToken]:
    """Return the prompt's part of an echo, which ends in what the model went on with."""
    count = fields["usage"]["prompt_tokens"]
    names, values = found["tokens"], found["token_logprobs"]
    if not 0 < count <= min(len(names), len(values)):
        raise IndexError(f"{len(values)} log-probabilities of {count} tokens")
    field = "choices[0].logprobs.token_logprobs"
    return [
        _token(name, value, place, field)
        for place, (name, value) in enumerate(zip(names[:count], values, strict=False))
    ]


def _listed(found: Sequence[Mapping[str, Any] | None]) -> list[ScoredToken]:
    """Return vLLM's list: nothing of the first token, and of each other one entry by its id."""
    tokens = []
    for place, entry in enumerate(found):
        if place == 0 or entry is None:
            tokens.append(ScoredToken("", None))
            continue
        ((name, value),) = entry.items()
        tokens.append(_token(name, value["logprob"], place, "choices[0].prompt_logprobs"))
    return tokens


def _token(name: object, value: Any, place: int, field: str) -> ScoredToken:
    if place == 0:
        return ScoredToken(str(name), None)
    if value is None:
        raise TypeError(f"{field}[{place}] is null")
    return ScoredToken(str(name), _log_probability(value, f"{field}[{place}]"))


def _log_probability(value: Any, field: str) -> float:
    """Read one, in nats; JSON of a careless server holds `NaN` and `-Infinity`, and a bound would make it certain.

    Raises:
        ModelError: If it is no finite number, or above 0 by more than rounding.
    """
    try:
        number = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or number > _ROUNDING_NATS:
        raise ModelError(
            f"{field} is {_short(value)}, and a log-probability is a finite number of at most 0; serve the model with "
            "something that gives them, or leave out what reads them (has_confidences = false, text_scores = none)"
        )
    return min(0.0, number)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}…"

"""How an engine computes or is reached: values alone, each held to its range, without anything that computes.

A plan that will ask a model later is checked by these, on a machine that may have neither torch nor a connection.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final

from leakscale.errors import InvalidRequestError

__all__ = ["ConnectionOptions", "LocalOptions", "require_at_least_one", "require_one_of"]

_DTYPES: Final = ("float32", "bfloat16")
_ATTENTIONS: Final = ("sdpa", "eager")
_OWN_VARIABLES: Final = "LEAKSCALE_"
_DEVICE: Final = re.compile(r"[a-z]+(:\d{1,3})?")


@dataclass(frozen=True, slots=True)
class LocalOptions:
    """How a local model computes; all of it is part of its identity.

    Raises:
        InvalidRequestError: If a value is outside its range.
    """

    dtype: str = "float32"
    """`float32` or `bfloat16`. In bfloat16 draws are repeatable on one machine, and coarser everywhere."""
    attention: str = "sdpa"
    """`sdpa` or `eager`."""
    device: str = "cpu"
    """In torch's words, e.g. `cuda:0`."""
    thread_count: int = 2
    """CPU threads. Fixed, not read off the machine, because the order of a sum decides its last bits."""

    def __post_init__(self) -> None:
        require_one_of("dtype", self.dtype, _DTYPES)
        require_one_of("attention", self.attention, _ATTENTIONS)
        require_at_least_one("thread_count", self.thread_count)
        if not _DEVICE.fullmatch(self.device):
            raise InvalidRequestError(f"engine option 'device' is {self.device!r}; write it as torch does, e.g. cuda:0")


@dataclass(frozen=True, slots=True)
class ConnectionOptions:
    """Where an endpoint is, under which names it serves, and how its failures are borne.

    Raises:
        InvalidRequestError: If a value is outside its range; nothing could ever be sent.
    """

    url: str
    """Base of the API, e.g. `http://localhost:8000/v1`."""
    served_model: str | None = None
    """Name under which the endpoint serves the base model, where it is not the model's own."""
    served_adapter: str | None = None
    """Name under which the endpoint serves the model with the adapter; None for the base state."""
    any_reply_model: bool = False
    """Whether answers may name another model than was asked for: for a server that replies with a path or an alias."""
    concurrency: int = 16
    """Requests in flight."""
    transport_failures_max: int = 8
    """Failures in a row of one request after which the endpoint counts as unavailable."""
    backoff_s: float = 0.5
    """Pause after the first failure of a request; it doubles with each."""
    timeout_s: float = 120.0
    api_key_variable: str = "OPENAI_API_KEY"
    """Environment variable that holds the key; none is sent where it is not set, or where this is empty."""

    def __post_init__(self) -> None:
        require_at_least_one("concurrency", self.concurrency)
        require_at_least_one("transport_failures_max", self.transport_failures_max)
        if self.api_key_variable.upper().startswith(_OWN_VARIABLES):
            raise InvalidRequestError(
                f"engine option 'api_key_variable' is '{self.api_key_variable}', and {_OWN_VARIABLES}* open servers of "
                "LeakScale; keep an endpoint's key in another variable"
            )
        if not (math.isfinite(self.backoff_s) and self.backoff_s >= 0):
            raise InvalidRequestError(f"engine option 'backoff_s' is {self.backoff_s}; give seconds, 0 or more")
        if not (math.isfinite(self.timeout_s) and self.timeout_s > 0):
            raise InvalidRequestError(f"engine option 'timeout_s' is {self.timeout_s}; give seconds above 0")


def require_one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    """Refuse a value that is none of those there are.

    Raises:
        InvalidRequestError: Naming them.
    """
    if value not in known:
        raise InvalidRequestError(f"engine option '{name}' is '{value}'; choose among {', '.join(known)}")


def require_at_least_one(name: str, value: int) -> None:
    """Refuse a count below one.

    Raises:
        InvalidRequestError: Naming the option.
    """
    if value < 1:
        raise InvalidRequestError(f"engine option '{name}' is {value}; it is at least 1")

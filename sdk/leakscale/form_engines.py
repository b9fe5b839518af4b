"""The engines that an audit can name, and what one answers: values alone, known where no engine can run.

What they do is in `leakscale.inference.forms`; a plan is read, and answers are scored, by whoever has none of it.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from leakscale.errors import InvalidRequestError

__all__ = ["FORM_ENGINES", "Generated", "OptionScore", "require_engine_options", "require_form_engine"]

FORM_ENGINES: Final[Mapping[str, tuple[str, str]]] = {
    "transformers": ("leakscale.inference.forms.local", "open_local_forms"),
    "openai": ("leakscale.inference.forms.endpoint", "open_endpoint_forms"),
}
"""Module and function of each engine."""
_OPTIONS: Final = {"transformers": "local_form_options", "openai": "endpoint_form_options"}
"""Function of `leakscale.inference.forms.options` that reads each engine's options."""


@dataclass(frozen=True, slots=True)
class Generated:
    """One generated answer."""

    text: str
    token_count: int
    is_cut_off: bool
    """Whether the token cap ended it."""
    confidence: float | None
    """Mean log-probability a token that the model gave its own answer, in nats, at most 0; None where nobody says."""


@dataclass(frozen=True, slots=True)
class OptionScore:
    """How probable one option is as what comes next."""

    log_probability: float
    """Of the whole option, in nats."""
    token_count: int


def require_form_engine(name: str) -> None:
    """Refuse an engine that does not exist, without loading anything.

    Raises:
        InvalidRequestError: With those that do.
    """
    if name not in FORM_ENGINES:
        raise InvalidRequestError(f"engine '{name}' is not one of {', '.join(FORM_ENGINES)}; choose one of them")


def require_engine_options(name: str, options: Mapping[str, Any]) -> None:
    """Refuse options that an engine could not be opened with, without opening one.

    What is not looked at: whether model, device and endpoint are there.

    Raises:
        InvalidRequestError: Naming the option, its value and what it may be.
    """
    module = importlib.import_module("leakscale.inference.forms.options")  # by name: whoever scores has no engines
    getattr(module, _OPTIONS[name])(options)

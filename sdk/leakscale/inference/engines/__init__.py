"""Engines: whatever can answer the cases of a frozen bank, behind one small protocol.

    engine = open_engine("exact", model="tiny-model-folder", adapter=None)
    engine.preflight(probes).require()
    for attempt in engine.answer(bank.cases()): ...

An engine's module is imported when it is asked for, so that naming one loads neither torch nor an HTTP client.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from leakscale.errors import InvalidRequestError
from leakscale.inference.attempts import Attempt, Mode
from leakscale.inference.cases import Case, Question
from leakscale.inference.engines.preflight import Check, PreflightReport

__all__ = [
    "ENGINES",
    "REMOTE_ENGINES",
    "Check",
    "Engine",
    "JsonScalar",
    "PreflightReport",
    "open_engine",
    "require_engine",
]

JsonScalar = str | int | float | bool | None


class Engine(Protocol):
    """A model that answers cases, wherever it runs."""

    @property
    def identity(self) -> Mapping[str, JsonScalar]:
        """Everything besides the bank that decides the answers; nothing that does not, such as an address."""

    @property
    def mode(self) -> Mode:
        """How its draws are made."""

    def preflight(self, questions: Sequence[Question]) -> PreflightReport:
        """Try on a few questions what a bank relies on, before the first case is asked.

        What fails is reported, not raised.

        Raises:
            UnavailableError: If the engine cannot be reached.
        """

    def answer(self, cases: Iterable[Case]) -> Iterator[Attempt]:
        """Answer cases, and report every attempt as it ends: failed ones too, in any order.

        Each case is asked until an attempt is terminal (`Attempt.is_terminal`). Cases are taken from the iterable as
        they are needed, so a bank of any size is answered in the same memory. What is answered to a case depends on
        the case and on `identity`, not on the other cases.

        Raises:
            UnavailableError: If transport failures go on past the engine's patience; the attempts were reported.
        """


ENGINES: Final[Mapping[str, tuple[str, str]]] = {
    "exact": ("leakscale.inference.engines.exact", "open_exact"),
    "transformers": ("leakscale.inference.engines.sampling", "open_sampling"),
    "openai": ("leakscale.inference.engines.endpoint", "open_endpoint"),
    "ray": ("leakscale.scale", "open_ray"),
}
"""Module and function of each engine; a function takes what `open_engine` takes after the name."""


def require_engine(name: str) -> None:
    """Refuse an engine that does not exist, without loading anything.

    Raises:
        InvalidRequestError: With those that do.
    """
    if name not in ENGINES:
        raise InvalidRequestError(f"engine '{name}' is not one of {', '.join(ENGINES)}; choose one of them")


REMOTE_ENGINES: Final = frozenset({"openai"})
"""Engines that need a model's name only: its weights are elsewhere."""


def open_engine(
    name: str,
    *,
    model: str | Path,
    adapter: Path | None = None,
    options: Mapping[str, Any] | None = None,
) -> Engine:
    """Open an engine by name.

    Args:
        name: One of `ENGINES`.
        model: Folder or Hugging Face id; for a remote engine, the name under which it is served.
        adapter: Folder of a completed adapter, or None for the base state.
        options: Fields of the engine's own options, e.g. `LocalOptions` or `EndpointOptions`.

    Raises:
        InvalidRequestError: If there is no such engine or option.
        ModelError: If the model or adapter cannot be used.
    """
    require_engine(name)
    module, function = ENGINES[name]
    engine: Engine = getattr(importlib.import_module(module), function)(
        model=model, adapter=adapter, options=dict(options or {})
    )
    return engine

"""Open the engine of a registered model; of an audit that was fetched, its author's words are somebody else's.

A registration names an address, a path, and the variable with an endpoint's key. Whoever answers a fetched audit would
send any secret of their environment to any address, if the author's word were enough. So no key is sent, and no path
of theirs is opened, unless they name it themselves.

What this does not guard: questions go to the address that the author registered, which `leakscale audit fetch` prints.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from leakscale.audit.registration.fields import ModelTable
from leakscale.audit.registration.origin import Fetched
from leakscale.base_model import named_model
from leakscale.errors import PreconditionError
from leakscale.inference.forms import FormEngine, open_form_engine

__all__ = ["Own", "model_words", "open_registered"]

_ENDPOINT: Final = "openai"
_KEY: Final = "api_key_variable"
_PATH: Final = re.compile(r"^[/~.\\]|^[A-Za-z]:|\.\.")


@dataclass(frozen=True, slots=True)
class Own:
    """What whoever answers names of their own machine, in place of what is registered."""

    api_key_variable: str | None = None
    """Environment variable with the key of an endpoint."""
    source: str | None = None
    """Folder or name of the model."""


def open_registered(
    model: ModelTable, *, adapter: Path | None = None, fetched: Fetched | None = None, own: Own | None = None
) -> FormEngine:
    """Open the engine of a model.

    Args:
        model: As the registration names it.
        adapter: Folder of a completed adapter, or None.
        fetched: Where the audit was fetched from; None where it was locked.
        own: What whoever answers names themselves.

    Raises:
        PreconditionError: If a fetched audit names a path, and whoever answers names none.
        InvalidRequestError, ModelError: As the engine says.
    """
    own, options = own or Own(), dict(model.engine_options)
    if model.engine == _ENDPOINT:
        if own.api_key_variable is not None:
            options[_KEY] = own.api_key_variable
        elif fetched is not None:
            options[_KEY] = ""
    elif fetched is not None and own.source is None and _is_path(model.source):
        raise PreconditionError(
            f"model '{model.id}' is registered with the source {model.source!r}, a path of the author's machine, which "
            f"is not opened on another; name yours: --source {model.id}=PATH"
        )
    return open_form_engine(model.engine, source=own.source or model.source, adapter=adapter, options=options)


def model_words(model: ModelTable) -> str:
    """Say what a registration has a machine do for a model: engine and source; of an endpoint its address and key."""
    words = f"{model.id}: engine {model.engine}, source {model.source}"
    if model.engine != _ENDPOINT:
        return words
    url, variable = (model.engine_options.get(name, "none") for name in ("url", _KEY))
    return f"{words}, every question goes to {url}; registered key variable {variable}"


def _is_path(source: str) -> bool:
    """Tell whether a source says where it lies; a name with one slash is that of a model on a hub."""
    if named_model(source) != source:
        return False
    return bool(_PATH.search(source)) or source.count("/") > 1 or Path(source).exists()

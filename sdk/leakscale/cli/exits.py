"""Exit codes, and the one line that says why a command ended.

| code | meaning |
|---|---|
| 0 | done |
| 1 | done, and the evidence or the result is negative: a rejected family, a failed check, a changed file of ours |
| 2 | usage: an argument, a file or a model that cannot be used as asked |
| 3 | the server or a resource is not available, or the server failed |
| 4 | refused: no or wrong token, or the right request at the wrong moment |
| 5 | internal: a fault of this program |
| 130 | interrupted |
"""

from __future__ import annotations

import enum
import errno
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

import typer

from leakscale.usage import usage_text

__all__ = ["ERROR_EXITS", "ExitCode", "Failure", "Interrupted", "failure_of", "interrupted", "telling_what_is_kept"]

_USAGE_BASE: Final = typer.BadParameter.__mro__[2]
"""Base of all complaints about arguments. Typer does not export it; every version derives BadParameter from it."""
_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_EXTRAS: Final = {
    "accelerate": "train",
    "ahocorasick_rs": "freshness",
    "peft": "train",
    "safetensors": "train",
    "tokenizers": "train",
    "torch": "train",
    "transformers": "train",
    "huggingface_hub": "train",
    "jinja2": "report",
    "matplotlib": "report",
    "cryptography": "verify",
    "httpx": "endpoint",
    "pyarrow": "audit",
    "ray": "ray",
    "securesystemslib": "verify",
    "pydantic": "server",
}
"""Packages that a plain `pip install leakscale` leaves out, and the extra that brings each."""


class ExitCode(enum.IntEnum):
    """How a command ended."""

    OK = 0
    NEGATIVE = 1
    USAGE = 2
    SERVER = 3
    REFUSED = 4
    INTERNAL = 5
    INTERRUPTED = 130


ERROR_EXITS: Final[Mapping[str, ExitCode]] = {
    "IntegrityError": ExitCode.NEGATIVE,
    "InvalidRequestError": ExitCode.USAGE,
    "NotFoundError": ExitCode.USAGE,
    "ModelError": ExitCode.USAGE,
    "StatisticsError": ExitCode.USAGE,
    "AuthenticationError": ExitCode.REFUSED,
    "PermissionDeniedError": ExitCode.REFUSED,
    "PreconditionError": ExitCode.REFUSED,
    "ConflictError": ExitCode.REFUSED,
    "BusyError": ExitCode.SERVER,
    "UnavailableError": ExitCode.SERVER,
    "StorageFullError": ExitCode.SERVER,
    "DeadlineError": ExitCode.SERVER,
    "ServerError": ExitCode.SERVER,
}
"""Code of each class of errors, by its name, so that naming one loads nothing; classes that derive from one have its
code. A file that a person writes and that breaks a rule is InvalidRequestError; one that this program wrote and that is
not as it was written is IntegrityError, in every command that reads it."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a command did not do what it was asked."""

    exit_code: ExitCode
    reason: str
    """Stable name for programs, e.g. `not_found`."""
    message: str
    """One line for people: subject, rule, value, next step."""

    def to_dict(self) -> dict[str, dict[str, str | int]]:
        """Return what `--json` prints."""
        return {"error": {"reason": self.reason, "message": self.message, "exit_code": int(self.exit_code)}}


class Interrupted(Exception):  # noqa: N818 - what happened, not a fault
    """Ctrl-C in a command, with what the command says of what is kept; typer would lose the words."""


_KEPT: Final[ContextVar[Callable[[], str]]] = ContextVar("kept", default=lambda: "what was finished is kept")
"""What an interruption says that knows nothing better."""


@contextmanager
def telling_what_is_kept(kept: Callable[[], str]) -> Iterator[None]:
    """Let a command say what a Ctrl-C in the block leaves, even one that meets an import and ends the process there.

    Args:
        kept: Called when it comes; must neither import nor raise. A KeyboardInterrupt with words of its own keeps them.
    """
    token = _KEPT.set(kept)
    try:
        yield
    except KeyboardInterrupt as error:
        if str(error):
            raise
        raise KeyboardInterrupt(kept()) from error
    finally:
        _KEPT.reset(token)


def interrupted(kept: str = "") -> Failure:
    """Describe Ctrl-C.

    Args:
        kept: What is kept, where the interruption itself knows; else what `telling_what_is_kept` was given.
    """
    kept = kept or _KEPT.get()()
    message = f"interrupted; {kept}, run the same command again to go on"
    return Failure(ExitCode.INTERRUPTED, "interrupted", message)


def failure_of(error: Exception) -> Failure:
    """Describe any exception that reached the top of a command."""
    if isinstance(error, typer.Abort | Interrupted):
        return interrupted(str(error))
    if isinstance(error, _USAGE_BASE):
        return _usage(error)
    known = _of_the_sdk(error)
    if known is not None:
        return known
    if isinstance(error, OSError):
        return _of_the_system(error)
    if isinstance(error, ModuleNotFoundError) and (extra := _EXTRAS.get((error.name or "").partition(".")[0])):
        message = f"the package '{error.name}' is not installed; run `pip install 'leakscale[{extra}]'`"
        return Failure(ExitCode.USAGE, "extra_missing", message)
    message = f"{type(error).__name__}: {error}; set LEAKSCALE_DEBUG=1 to see the traceback, and please report it"
    return Failure(ExitCode.INTERNAL, "internal", _one_line(f"internal error: {message}"))


def _usage(error: Exception) -> Failure:
    context = getattr(error, "ctx", None)
    command = getattr(context, "command_path", "leakscale")
    message = usage_text(error) or "Missing command"
    return Failure(ExitCode.USAGE, "usage", f"{message}; see `{command} --help`")


def _of_the_sdk(error: Exception) -> Failure | None:
    """Describe the package's own errors, by the nearest ancestor that the table names."""
    for kind in type(error).__mro__:
        if kind.__module__.startswith("leakscale.") and kind.__name__ in ERROR_EXITS:
            return Failure(ERROR_EXITS[kind.__name__], _snake(type(error).__name__), _one_line(str(error)))
    return None


def _of_the_system(error: OSError) -> Failure:
    place = f" '{error.filename}'" if error.filename else ""
    if error.errno in _NO_ROOM:
        message = f"no space left to write{place}; what was finished is kept, free some space and run the command again"
        return Failure(ExitCode.SERVER, "storage_full", message)
    if isinstance(error, ConnectionError | TimeoutError):
        return Failure(ExitCode.SERVER, "unavailable", _one_line(f"no connection: {error}; check --server"))
    message = f"cannot use{place}: {error.strerror or error}; check the path and its permissions"
    return Failure(ExitCode.USAGE, "file", _one_line(message))


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.removesuffix("Error")).lower()


def _one_line(message: str) -> str:
    return " ".join(message.split())

"""Complaints about the arguments of a command, in the words of this package whichever version of typer complains."""

from __future__ import annotations

import typer

__all__ = ["usage_text"]


def usage_text(error: Exception) -> str:
    """Return what is wrong with the arguments of a command: option, rule and value in one line without a full stop.

    Empty for a command group without a command, which has printed its help and complains in no words.
    """
    if isinstance(error, typer.BadParameter):
        _put_in_our_words(error)
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    return " ".join(message.split()).rstrip(".")


def _put_in_our_words(error: typer.BadParameter) -> None:
    """Say what pydantic found, which newer versions of typer ask, as of a field of a file."""
    fault = error.__cause__
    if fault is None or not type(fault).__module__.startswith("pydantic"):
        return
    from leakscale.field_rules import broken_rule  # noqa: PLC0415 - pydantic is there, as it complained

    error.message = broken_rule(fault)  # type: ignore[arg-type]

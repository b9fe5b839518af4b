"""Read JSON and TOML that somebody else may have written. Whatever is wrong with a text is a ValueError that says it.

The parsers of the standard library leave with a RecursionError where a text is nested without end, take a field that is
there twice, and call three words numbers that JSON has not. Nothing else in the package calls them (ruff's TID251).
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

__all__ = ["fault_of", "parse_json", "parse_object", "parse_toml", "read_object"]


def parse_json(content: bytes | str, *, is_strict: bool = False) -> Any:
    """Parse JSON.

    Args:
        content: Text, or its bytes in UTF-8.
        is_strict: Whether a field that is there twice, NaN and infinity are refused: of two readers each could believe
            another one.

    Raises:
        ValueError: If it is none.
    """
    try:
        if is_strict:
            return json.loads(content, object_pairs_hook=_once_each, parse_constant=_no_number)
        return json.loads(content)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
    except ValueError as error:
        if isinstance(error, json.JSONDecodeError | UnicodeDecodeError) or "digits" not in str(error):
            raise
        raise ValueError("it has a number of more than 4,300 digits; write it as text") from error


def parse_object(content: bytes | str, *, is_strict: bool = False) -> dict[str, Any]:
    """Parse a JSON object; see `parse_json`.

    Raises:
        ValueError: If it is none.
    """
    value = parse_json(content, is_strict=is_strict)
    if not isinstance(value, dict):
        raise ValueError("it is no JSON object")
    return value


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML.

    Raises:
        ValueError: If it is none; the message names line and column.
    """
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error


def read_object(path: Path, *, advice: str) -> dict[str, Any]:
    """Read a file that holds one JSON object.

    Args:
        path: The file.
        advice: What to do about a damaged one, e.g. `run the study again`.

    Raises:
        OSError: If it cannot be opened.
        IntegrityError: If it holds something else.
    """
    content = path.read_bytes()
    try:
        return parse_object(content)
    except ValueError as error:
        from leakscale.errors import IntegrityError  # noqa: PLC0415 - loads gRPC, which no worker needs

        raise IntegrityError(f"'{path}' cannot be read: {error}; {advice}") from error


def fault_of(error: Exception) -> str:
    """Say in one line what is wrong with a file that some reader made nothing of.

    Args:
        error: What it raised: of a field that is missing, only its name is in a KeyError.
    """
    words = " ".join(str(error).split())
    if isinstance(error, KeyError):
        return f"it lacks {words}"
    if isinstance(error, TypeError | AttributeError | IndexError):
        return f"it is of another form: {words}"
    return words or type(error).__name__


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"field {next(name for name in names if names.count(name) > 1)!r} is there twice")
    return fields


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")

"""Plans that people write as TOML: of a study, a background, an audit, a control. One way to read them all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from leakscale.errors import InvalidRequestError, NotFoundError
from leakscale.field_rules import validated
from leakscale.reading import parse_toml

__all__ = ["plan_fields", "plan_of_fields", "read_plan"]

_Plan = TypeVar("_Plan", bound=BaseModel)


def read_plan(path: Path, model: type[_Plan], *, absent: str) -> _Plan:
    """Read a plan from its file.

    Args:
        path: A TOML file in UTF-8.
        model: What the plan has to be.
        absent: What is said where there is no such file.

    Raises:
        NotFoundError: If there is no such file.
        InvalidRequestError: If it is malformed; the message names file, line or field, rule and value.
    """
    return plan_of_fields(plan_fields(path, absent=absent), model, source=str(path))


def plan_fields(path: Path, *, absent: str) -> dict[str, Any]:
    """Read the fields of a plan, whatever they are.

    Raises:
        NotFoundError: If there is no such file; it says `absent`.
        InvalidRequestError: If it is no TOML in UTF-8; the message names file and line.
    """
    try:
        return parse_toml(path.read_text(encoding="utf-8-sig"))  # with the mark that some editors put first
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise NotFoundError(absent) from error
    except UnicodeDecodeError as error:
        raise InvalidRequestError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from error
    except ValueError as error:
        raise InvalidRequestError(f"{path}: not valid TOML: {error}") from error


def plan_of_fields(fields: Mapping[str, Any], model: type[_Plan], *, source: str) -> _Plan:
    """Return the plan that fields describe.

    Raises:
        InvalidRequestError: If they describe none; the message names source, field, rule and value.
    """
    try:
        return validated(fields, model)
    except ValueError as error:
        raise InvalidRequestError(f"{source}: {error}") from error

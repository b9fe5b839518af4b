"""Plans that people write as TOML: of an audit, a control, a validation study. One way to read them all."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from leakscale.errors import InvalidRequestError, NotFoundError

__all__ = ["plan_of_fields", "read_plan"]

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
    try:
        fields = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise NotFoundError(absent) from error
    except UnicodeDecodeError as error:
        raise InvalidRequestError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise InvalidRequestError(f"{path}: not valid TOML: {error}") from error
    return plan_of_fields(fields, model, source=str(path))


def plan_of_fields(fields: Mapping[str, Any], model: type[_Plan], *, source: str) -> _Plan:
    """Return the plan that fields describe.

    Raises:
        InvalidRequestError: If they describe none; the message names source, field, rule and value.
    """
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "file"
        rule = first["msg"].removeprefix("Value error, ")
        is_scalar = isinstance(first["input"], str | int | float | bool)
        value = f" (got {first['input']!r})" if is_scalar else ""
        raise InvalidRequestError(f"{source}: field '{field}': {rule[:1].lower()}{rule[1:]}{value}") from error

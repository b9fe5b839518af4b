"""What a broken rule of a field is called, in the words of this package instead of pydantic's report of many lines."""

from __future__ import annotations

from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

__all__ = ["broken_rule", "validated"]

_Model = TypeVar("_Model", bound=BaseModel)

_SHOWN: Final = 80
"""Characters of a value that a message repeats."""
_WORDS: Final = {"model_type": "it is an object with fields of its own", "tuple_type": "it is a list"}
"""What is said where pydantic names a class of ours, or of Python's."""


def validated(fields: Any, model: type[_Model], *, context: Any = None) -> _Model:
    """Return what fields describe.

    Args:
        fields: As a parser gives them.
        model: What they have to be.
        context: Told to the model's validators.

    Raises:
        ValueError: If they describe none; the message names field, rule and value of the first fault.
    """
    try:
        return model.model_validate(fields, context=context)
    except ValidationError as error:
        raise ValueError(broken_rule(error)) from error


def broken_rule(error: ValidationError) -> str:
    """Return the first rule that a value broke, with the field and, where it is one, the plain value."""
    first = error.errors(include_url=False)[0]
    field = ".".join(map(str, first["loc"]))
    rule = _WORDS.get(first["type"]) or first["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    found = repr(first["input"])[:_SHOWN] if isinstance(first["input"], str | int | float | bool) else ""
    subject = f"field '{field}': " if field else ""
    value = f" (got {found})" if found and found not in rule else ""
    return f"{subject}{rule[:1].lower()}{rule[1:]}{value}"

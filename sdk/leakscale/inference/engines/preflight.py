"""What must hold before the first case is asked, and the report of it.

A server that ignores the constraint, the adapter or the seed answers as willingly as one that does not; the bank would
be complete, and mean something else.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from leakscale.errors import InvalidRequestError, ModelError

__all__ = ["Check", "PreflightReport", "parse_options"]

_Options = TypeVar("_Options")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was tried."""

    name: str
    """E.g. `adapter-active`."""
    passed: bool
    finding: str
    """What was found, with its number and unit."""


@dataclass(frozen=True, slots=True)
class PreflightReport:
    """Everything that was tried on an engine."""

    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Tell whether every check passed."""
        return all(check.passed for check in self.checks)

    def require(self) -> None:
        """Refuse an engine that failed a check.

        Raises:
            ModelError: If any failed; the message names each with its finding.
        """
        failed = [f"{check.name} ({check.finding})" for check in self.checks if not check.passed]
        if failed:
            raise ModelError(
                f"the engine failed its preflight: {'; '.join(failed)}; no case was asked. Mend it and run again"
            )


def parse_options(kind: type[_Options], options: Mapping[str, Any]) -> _Options:
    """Build an engine's options from a mapping.

    Raises:
        InvalidRequestError: If there is no option of a name, one that must be given is missing, or a value is not of
            its option's type.
    """
    fields: dict[str, dataclasses.Field[Any]] = {each.name: each for each in dataclasses.fields(kind)}  # type: ignore[arg-type]
    unknown = sorted(set(options) - set(fields))
    if unknown:
        raise InvalidRequestError(
            f"engine option '{unknown[0]}' does not exist; choose among {', '.join(sorted(fields))}"
        )
    for name, field in fields.items():
        has_default = (field.default, field.default_factory) != (dataclasses.MISSING, dataclasses.MISSING)
        if name not in options and not has_default:
            raise InvalidRequestError(f"engine option '{name}' is missing; give it, e.g. --option {name}=VALUE")
    kinds = get_type_hints(kind)
    for name, value in options.items():
        if not _is_of(value, kinds[name]):
            raise InvalidRequestError(
                f"engine option '{name}' is {value!r}, a {type(value).__name__}; give a {fields[name].type}"
            )
    return kind(**options)


def _is_of(value: object, kind: Any) -> bool:
    """Tell whether a value that came from JSON or TOML is of an option's type."""
    if isinstance(kind, UnionType):
        return any(_is_of(value, each) for each in get_args(kind))
    plain = get_origin(kind) or kind
    if isinstance(value, bool):
        return plain is bool
    return isinstance(value, (int, float) if plain is float else plain)

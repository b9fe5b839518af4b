"""What must hold before the first case is asked, and the report of it.

A server that ignores the constraint, the adapter or the seed answers as willingly as one that does not; the bank would
be complete, and mean something else.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

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
        InvalidRequestError: If there is no option of a name, or one that must be given is missing.
    """
    names = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    unknown = sorted(set(options) - names)
    if unknown:
        raise InvalidRequestError(
            f"engine option '{unknown[0]}' does not exist; choose among {', '.join(sorted(names))}"
        )
    try:
        return kind(**options)
    except TypeError as error:
        raise InvalidRequestError(f"engine options {sorted(options)} are not enough: {error}") from error

"""What a verification found out, one step after the other, in the order of the papers' argument.

    read_steps(study / "evidence" / STEPS_FILE)

Each step says what it is about, how much it looked at and whether it holds. `unchecked` is no word for *good enough*:
it says that nobody knows, and why.

Source: LeakScale E.7 and F (evidence chain).
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from leakscale.digests import canonical_json
from leakscale.errors import IntegrityError, NotFoundError
from leakscale.reading import fault_of, parse_json

__all__ = ["STEPS_FILE", "STEP_NAMES", "Status", "Step", "read_steps", "steps_from_json", "steps_to_json", "verdict_of"]

STEPS_FILE: Final = Path("audits/verification.json")
"""What was found when a tree of evidence was made, relative to the tree."""
STEP_NAMES: Final = (
    "manifest",
    "regeneration",
    "balance",
    "leakage",
    "adapter activity",
    "inference chain",
    "completion",
    "signatures",
    "analysis",
)
"""Every step, in the order of the argument: each rests on those before it."""
_FORMAT: Final = "leakscale-verification-v1"


class Status(enum.StrEnum):
    """How a step ended."""

    HOLDS = "holds"
    FAILS = "fails"
    UNCHECKED = "unchecked"
    """Something that it needs is not there; nothing speaks against it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a verification."""

    name: str
    """One of `STEP_NAMES`."""
    status: Status
    checked: int
    """How many things were looked at."""
    what: str
    """Which, with their number, e.g. `2,048 families rebuilt in 3 rings`."""
    message: str = ""
    """Of a failure: file, line and what was expected. Otherwise what a reader should know, or empty."""

    def to_text(self) -> str:
        """Return the step as one line, and what it says as a second one."""
        mark = {Status.HOLDS: "✓", Status.FAILS: "✗", Status.UNCHECKED: "?"}[self.status]
        line = f"{mark} {self.name}: {self.what}"
        return f"{line}\n  {self.message}" if self.message else line


def verdict_of(steps: Iterable[Step]) -> Status:
    """Return what steps mean together: one that fails decides, then one that is unchecked."""
    found = {step.status for step in steps}
    return next((each for each in (Status.FAILS, Status.UNCHECKED) if each in found), Status.HOLDS)


def steps_to_json(steps: Sequence[Step]) -> dict[str, Any]:
    """Return steps and what they mean together as JSON-ready values."""
    return {
        "format": _FORMAT,
        "verdict": verdict_of(steps).value,
        "steps": [
            {
                "name": step.name,
                "status": step.status.value,
                "checked": step.checked,
                "what": step.what,
                "message": step.message,
            }
            for step in steps
        ],
    }


def steps_from_json(content: bytes) -> tuple[Step, ...]:
    """Read what `steps_to_json` returned, written as canonical JSON.

    Raises:
        IntegrityError: If it is something else.
    """
    try:
        fields = parse_json(content)
        if fields["format"] != _FORMAT:
            raise ValueError(f"its format is {fields['format']}, not {_FORMAT}")
        steps = tuple(Step(**{**each, "status": Status(each["status"])}) for each in fields["steps"])
        if tuple(step.name for step in steps) != STEP_NAMES:
            raise ValueError(f"its steps are {len(steps)} others than the {len(STEP_NAMES)} of a verification")
        if canonical_json(steps_to_json(steps)) != content:
            raise ValueError("its bytes are not the ones that were written")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise IntegrityError(f"it holds no verification: {fault_of(error)}; verify the evidence again") from error
    return steps


def read_steps(path: Path) -> tuple[Step, ...]:
    """Read the steps of a file.

    Raises:
        NotFoundError: If there is none.
        IntegrityError: If it holds something else.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise NotFoundError(f"'{path}' does not exist; make it with `leakscale evidence build STUDY`") from error
    return steps_from_json(content)

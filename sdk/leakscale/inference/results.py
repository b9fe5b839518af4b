"""What a bank ends up with: one terminal result a case.

Source: LeakScale F.1.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from leakscale.errors import IntegrityError
from leakscale.inference.attempts import Attempt, Mode, Outcome
from leakscale.inference.cases import Case
from leakscale.inference.draws import inverse_cdf
from leakscale.inference.lines import read_records
from leakscale.models import Ring
from leakscale.reading import fault_of
from leakscale.seeds import uniform

__all__ = ["RESULTS_MEND", "Finish", "TerminalResult", "read_results", "terminal_result"]

RESULTS_MEND: Final = "delete this one file and answer the bank again: results are derived from the attempts, not asked"
"""What to do about damaged results."""


class Finish(enum.StrEnum):
    """How the answer of a case ends."""

    STOP = "stop"
    LENGTH = "length"
    """Cut off; malformed unless it happens to be one of the four strings."""


@dataclass(frozen=True, slots=True)
class TerminalResult:
    """The one answer of a case."""

    case: int
    family_id: str
    ring: Ring
    draw: int
    mode: Mode
    finish: Finish
    text: str
    """Exactly as the model gave it; a malformed one is never repaired."""

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON values; members of enumerations are strings of JSON as they are."""
        return {
            "case": self.case,
            "family_id": self.family_id,
            "ring": self.ring,
            "draw": self.draw,
            "mode": self.mode,
            "finish": self.finish,
            "text": self.text,
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> TerminalResult:
        """Read what `to_json` wrote.

        Raises:
            IntegrityError: If the fields are no result.
        """
        try:
            return cls(
                case=int(fields["case"]),
                family_id=fields["family_id"],
                ring=Ring(fields["ring"]),
                draw=int(fields["draw"]),
                mode=Mode(fields["mode"]),
                finish=Finish(fields["finish"]),
                text=fields["text"],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise IntegrityError(f"is no result ({fault_of(error)})") from error


def terminal_result(case: Case, attempt: Attempt, mode: Mode) -> TerminalResult:
    """Return what a terminal attempt means for one of its cases: its text, or the draw from its distribution."""
    text = attempt.text
    if attempt.distribution is not None:
        distribution = attempt.distribution
        law = distribution.conditional if mode is Mode.EXACT_CONDITIONAL else distribution.guided
        text = case.question.answers[inverse_cdf(law, uniform(case.seed))]
    return TerminalResult(
        case=case.index,
        family_id=case.question.family_id,
        ring=case.question.ring,
        draw=case.draw,
        mode=mode,
        finish=Finish.LENGTH if attempt.outcome is Outcome.LENGTH else Finish.STOP,
        text=text or "",
    )


def read_results(path: Path) -> Iterator[TerminalResult]:
    """Read the results of a bank, in case order.

    Raises:
        IntegrityError: If a line is torn or no result; the message names it.
    """
    return read_records(path, TerminalResult.from_json, mend=RESULTS_MEND, is_stamped=False)

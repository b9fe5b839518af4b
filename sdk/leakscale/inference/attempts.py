"""What an engine reports: attempts, each of which is one request to a model, however it ended.

Source: LeakScale F.1 (append-only attempts; retries only for transport failures or the registered length-tier
transition).
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from leakscale.errors import IntegrityError
from leakscale.inference.lines import read_records
from leakscale.inference.trie import ChoiceDistribution
from leakscale.reading import fault_of

__all__ = ["ATTEMPTS_MEND", "TIER_COUNT", "Attempt", "Mode", "Outcome", "read_attempts"]

TIER_COUNT: Final = 2
"""Length tiers: an answer cut off in the first is asked for once more in the second, and there a cut is final."""


ATTEMPTS_MEND: Final = (
    "restore the file; where there is no copy, delete it with the results and the binding beside it, and answer the "
    "whole bank again"
)
"""What to do about a damaged log: nothing else knows what was answered."""


class Mode(enum.StrEnum):
    """How a bank's draws were made; named in every result."""

    EXACT_GUIDED = "exact-guided"
    """From the exact distribution that guided decoding samples from."""
    EXACT_CONDITIONAL = "exact-conditional"
    """From the exact distribution over whole answers, given that one of the four is written."""
    SAMPLED_GUIDED = "sampled-guided"
    """Token by token, every branch renormalised over what still leads to an answer."""
    SAMPLED_FREE = "sampled-free"
    """Token by token with nothing forced; an answer may be malformed."""


class Outcome(enum.StrEnum):
    """How an attempt ended."""

    COMPLETED = "completed"
    """The model ended its answer, or gave its distribution; terminal whatever the answer says."""
    LENGTH = "length"
    """The answer was cut off at the tier's length; terminal in the last tier."""
    TRANSPORT = "transport"
    """No whole answer arrived; the only failure that is asked again as it was."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request to a model, and how it ended."""

    case: int
    """Index of the first case that it is for."""
    outcome: Outcome
    case_count: int = 1
    """More than one where all draws of a question are taken from one distribution."""
    tier: int = 0
    """0-based length tier."""
    text: str | None = None
    """The answer exactly as the model gave it, of one case."""
    distribution: ChoiceDistribution | None = None
    """What all its cases are drawn from; then there is no text."""
    detail: str = ""
    """What failed, in one line; empty where nothing did."""

    def to_json(self) -> dict[str, Any]:
        """Return the fields that are not at their default, as plain JSON values."""
        fields: dict[str, Any] = {"case": self.case, "outcome": self.outcome.value, "tier": self.tier}
        if self.case_count != 1:
            fields["case_count"] = self.case_count
        if self.text is not None:
            fields["text"] = self.text
        if self.distribution is not None:
            fields |= {"guided": self.distribution.guided, "unconstrained": self.distribution.unconstrained}
        if self.detail:
            fields["detail"] = self.detail
        return fields

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Attempt:
        """Read what `to_json` wrote.

        Raises:
            IntegrityError: If the fields are no attempt.
        """
        try:
            guided = fields.get("guided")
            return cls(
                case=int(fields["case"]),
                outcome=Outcome(fields["outcome"]),
                case_count=int(fields.get("case_count", 1)),
                tier=int(fields["tier"]),
                text=fields.get("text"),
                distribution=None
                if guided is None
                else ChoiceDistribution(tuple(guided), tuple(fields["unconstrained"])),
                detail=fields.get("detail", ""),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise IntegrityError(f"is no attempt ({fault_of(error)})") from error

    @property
    def is_terminal(self) -> bool:
        """Tell whether no further attempt may follow."""
        return self.outcome is Outcome.COMPLETED or (self.outcome is Outcome.LENGTH and self.tier == TIER_COUNT - 1)


def read_attempts(path: Path) -> Iterator[Attempt]:
    """Read the attempts of a log, in the order in which they were made.

    Raises:
        IntegrityError: If a line is torn, changed or no attempt; the message names it.
    """
    return read_records(path, Attempt.from_json, mend=ATTEMPTS_MEND, is_stamped=True)

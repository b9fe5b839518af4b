"""How many answers are one of the four strings, and when an engine that promised so has stopped to keep it.

A malformed answer is terminal and counts as wrong: asking it again would select answers. But a server that dropped its
constraint in the middle of a bank malforms all that follow, and the bank would be complete and mean something else. So
a run stops after a number of them that is fixed before its first case; what was answered stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from leakscale.errors import InvalidRequestError, ModelError
from leakscale.inference.attempts import Attempt, Mode
from leakscale.inference.cases import Case, FrozenBank

__all__ = ["INVALID_MAX", "ConstraintWatch", "valid_count"]

INVALID_MAX: Final = 16
"""Malformed answers that a run bears, in a mode that promises none."""


def valid_count(bank: FrozenBank, attempt: Attempt) -> int:
    """Return how many cases an attempt gives one of their question's four strings; 0 if it is not terminal."""
    if not attempt.is_terminal:
        return 0
    if attempt.distribution is not None:
        return attempt.case_count
    return int(attempt.text in bank.question(attempt.case // bank.draw_count).answers)


class ConstraintWatch:
    """Counts the malformed answers of one run, and ends it when there are too many.

    Does not guard against a server that malforms fewer, nor against one whose answers are well-formed and not drawn
    from its model's law: for that, hold the bank against an exact one.
    """

    def __init__(self, bank: FrozenBank, mode: Mode, *, invalid_max: int) -> None:
        """Begin a run.

        Raises:
            InvalidRequestError: If `invalid_max` is negative.
        """
        if invalid_max < 0:
            raise InvalidRequestError(f"invalid_max is {invalid_max}; allow at least 0 malformed answers")
        self._bank, self._mode, self._invalid_max = bank, mode, invalid_max
        self._seen_count = self._invalid_count = 0
        self._last = ""

    @property
    def is_lost(self) -> bool:
        """Tell whether there were too many."""
        return self._mode is not Mode.SAMPLED_FREE and self._invalid_count > self._invalid_max

    def see(self, attempt: Attempt) -> None:
        """Count an attempt of this run."""
        if attempt.is_terminal:
            self._seen_count += attempt.case_count
            invalid_count = attempt.case_count - valid_count(self._bank, attempt)
            if invalid_count:
                self._invalid_count += invalid_count
                self._last = f"case {attempt.case}: {(attempt.text or '')[:40]!r}"

    def while_kept(self, cases: Iterable[Case]) -> Iterator[Case]:
        """Pass cases on until there are too many; what was begun by then still ends, and is recorded."""
        for case in cases:
            if self.is_lost:
                return
            yield case

    def require(self) -> None:
        """Refuse to go on.

        Raises:
            ModelError: If there were too many.
        """
        if self.is_lost:
            raise ModelError(
                f"{self._invalid_count} of {self._seen_count} answers of this run are none of their four, and mode "
                f"'{self._mode.value}' allows {self._invalid_max}: the engine no longer enforces the choice (last, "
                f"{self._last}). They are recorded and stay; mend the engine and run the same command again, it goes on"
            )

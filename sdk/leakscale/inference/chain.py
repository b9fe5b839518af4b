"""From attempts to results: the one way, taken while a bank is answered, resumed, merged and verified.

Results are a function of the frozen bank and of the attempts. So attempts are written first, and a result stream can
always be derived again and compared.

Source: LeakScale F.1 (one terminal result a case, a valid attempt chain).
"""

from __future__ import annotations

from collections.abc import Iterator

from leakscale.errors import IntegrityError
from leakscale.inference.attempts import Attempt, Mode, Outcome
from leakscale.inference.cases import Case, FrozenBank
from leakscale.inference.results import TerminalResult, terminal_result

__all__ = ["AttemptChain"]


class AttemptChain:
    """Follows the attempts of a range of cases and gives each case's result in case order.

    Holds one byte a case, and the results that wait for an earlier case.
    """

    def __init__(self, bank: FrozenBank, mode: Mode, indices: range) -> None:
        self._bank, self._mode, self._indices = bank, mode, indices
        self._is_terminal = bytearray(len(indices))
        self._tier_after: dict[int, int] = {}
        """Tier that the next attempt of an unfinished case must have, where it is not the first."""
        self._waiting: dict[int, TerminalResult] = {}
        self._next = indices.start

    @property
    def result_count(self) -> int:
        """Results given so far: those of the first so many cases."""
        return self._next - self._indices.start

    @property
    def is_complete(self) -> bool:
        """Tell whether every case has its result."""
        return self.result_count == len(self._indices)

    def open_cases(self) -> Iterator[Case]:
        """Return the cases that have no terminal attempt yet, as the attempts so far leave them."""
        for position, index in enumerate(self._indices):
            if not self._is_terminal[position]:
                yield self._bank.case(index, tier=self._tier_after.get(index, 0))

    def add(self, attempt: Attempt) -> Iterator[TerminalResult]:
        """Take an attempt in; return the results that are now due, in case order.

        Raises:
            IntegrityError: If no rule allows this attempt after those before it.
        """
        self._check(attempt)
        if attempt.is_terminal:
            for index in range(attempt.case, attempt.case + attempt.case_count):
                self._is_terminal[index - self._indices.start] = True
                self._tier_after.pop(index, None)
                self._waiting[index] = terminal_result(self._bank.case(index), attempt, self._mode)
        elif attempt.outcome is Outcome.LENGTH:
            self._tier_after[attempt.case] = attempt.tier + 1
        return self._due()

    def _due(self) -> Iterator[TerminalResult]:
        due = []
        while self._next in self._waiting:
            due.append(self._waiting.pop(self._next))
            self._next += 1
        return iter(due)

    def _check(self, attempt: Attempt) -> None:
        indices = range(attempt.case, attempt.case + attempt.case_count)
        per_question = self._bank.draw_count
        if not indices or indices[0] not in self._indices or indices[-1] not in self._indices:
            raise _broken(attempt, f"is not within cases {self._indices.start} to {self._indices.stop - 1}")
        if indices[0] // per_question != indices[-1] // per_question:
            raise _broken(attempt, "covers two questions")
        if any(self._is_terminal[index - self._indices.start] for index in indices):
            raise _broken(attempt, "follows a terminal one")
        if any(self._tier_after.get(index, 0) != attempt.tier for index in indices):
            raise _broken(attempt, f"is in length tier {attempt.tier} out of turn")
        if attempt.is_terminal and (attempt.distribution is None) == (attempt.text is None):
            raise _broken(attempt, "needs either an answer or a distribution")
        if attempt.distribution is None and attempt.case_count != 1:
            raise _broken(attempt, "gives one answer to several cases")


def _broken(attempt: Attempt, rule: str) -> IntegrityError:
    return IntegrityError(f"the attempt at case {attempt.case} ({attempt.outcome.value}) {rule}")

"""What follows from disclosed totals: accuracies, changes, effects. The server writes by it, `leakscale verify` checks.

On a private edition a total is rounded to whole families before it leaves, and so everything here is a little off what
the answers had; how far at most is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from leakscale.errors import IntegrityError
from leakscale.models import Condition, Domain, ModelState
from leakscale.results import CellTotal

__all__ = ["Place", "Told", "ToldTotals", "round_count"]

Place = tuple[Domain, Condition, ModelState]
"""What a total is of."""


def round_count(count: int, *, step: int) -> int:
    """Return the multiple of a step that is nearest to a count; halfway between two, the even multiple.

    Args:
        count: At least 0.
        step: At least 1, which changes nothing.
    """
    return step * round(Fraction(count, step))


@dataclass(frozen=True, slots=True)
class Told:
    """A share, or a difference of shares, as told."""

    value: Fraction
    error_max: Fraction
    """Farthest that it may be from what it was before totals were rounded; 0 where they were not."""

    def __add__(self, other: Told) -> Told:
        return Told(self.value + other.value, self.error_max + other.error_max)

    def __sub__(self, other: Told) -> Told:
        return Told(self.value - other.value, self.error_max + other.error_max)

    def halved(self) -> Told:
        """Return half of it."""
        return Told(self.value / 2, self.error_max / 2)


class ToldTotals:
    """Totals of some families in one ring, as disclosed.

    Args:
        counts: Correct and all draws of every domain, condition and model state.
        count_step: What every count of correct draws was rounded to a multiple of; 1 where none was.

    Raises:
        IntegrityError: If a count is no multiple of the step, or not in 0 to its draws.
    """

    def __init__(self, counts: Mapping[Place, tuple[int, int]], *, count_step: int) -> None:
        for place, (correct, draws) in counts.items():
            if not 0 <= correct <= draws or correct % count_step:
                raise IntegrityError(
                    f"total of {', '.join(place)} has {correct} of {draws} draws right, which is no multiple of "
                    f"{count_step} in that range; fetch the disclosure from the server again"
                )
        self._counts = counts
        self._error_max = count_step // 2
        self.domains = sorted({domain for domain, _, _ in counts})

    @classmethod
    def of(cls, totals: Iterable[CellTotal], *, count_step: int) -> ToldTotals:
        """Take the totals of one ring as a disclosure has them.

        Raises:
            IntegrityError: As the constructor.
        """
        counts = {(each.domain, each.condition, each.state): (each.correct_count, each.draw_count) for each in totals}
        return cls(counts, count_step=count_step)

    def accuracy(self, domains: Iterable[Domain], condition: Condition, state: ModelState) -> Told:
        """Return the share of correct draws over domains, every draw weighing the same."""
        counts = [self._counts[domain, condition, state] for domain in domains]
        draws = sum(each for _, each in counts)
        return Told(
            Fraction(sum(correct for correct, _ in counts), draws), Fraction(len(counts) * self._error_max, draws)
        )

    def change(self, domain: Domain | None, condition: Condition) -> Told:
        """Return adapted less base accuracy of one domain, or of all."""
        domains = self.domains if domain is None else [domain]
        base, adapted = (self.accuracy(domains, condition, state) for state in ModelState)
        return adapted - base

    def effect(self, domain: Domain | None) -> Told:
        """Return the difference in differences of one domain, or of all: change of C2 less drift of C0."""
        return self.change(domain, Condition.C2) - self.change(domain, Condition.C0)

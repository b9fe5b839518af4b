"""What some families scored in the banks of one ring: totals as they are told, and estimates from all draws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from leakscale.models import Condition, Domain, ModelState
from leakscale.stats import DidResult, Interval, Outcomes, crossed_contrast, difference_in_differences
from leakscale.totals import Place, ToldTotals, round_count
from leakscale_server.scorer.contract import ExperimentHead, FamilyCell

__all__ = ["ALPHA", "Crossed", "Effect", "RingScores", "Tallies", "Tally", "count_step"]

ALPHA: Final = 0.05


def count_step(head: ExperimentHead) -> int:
    """Return what totals are rounded to multiples of: the draws of a family, or 1 where everything may be told.

    Draws used as weights say nothing below a whole family then, and a total one of family count + 1 values.
    """
    return 1 if head.is_open else head.draw_count


@dataclass(frozen=True, slots=True)
class Tally:
    """Draws of each family in one bank, by family id."""

    correct: Mapping[str, int]
    valid: Mapping[str, int]


Tallies = Mapping[tuple[Domain, ModelState], Tally]


@dataclass(frozen=True, slots=True)
class Effect:
    """The exposure effect of one domain or all (None), exactly: never told where totals are rounded."""

    domain: Domain | None
    registered: DidResult
    exact: DidResult


@dataclass(frozen=True, slots=True)
class Crossed:
    """The effects of two domains taken together, exactly."""

    domains: tuple[Domain, Domain]
    mean: Interval
    difference: Interval
    """Effect in the first domain less that in the second."""


class RingScores:
    """What some families scored in the banks of one ring."""

    def __init__(self, head: ExperimentHead, families: Sequence[FamilyCell], tallies: Tallies) -> None:
        self._head = head
        self._domains = sorted({family.domain for family in families})
        self._families = families
        self._tallies = tallies

    def totals(self) -> list[dict[str, str | int]]:
        """Return the integer outcome of every domain, condition and state, as it is told."""
        return [self._total(place) for place in self._places()]

    def told(self) -> ToldTotals:
        """Return the same totals, as what everything else that is told follows from."""
        counts = {place: (self._correct_count(place), self._draw_count(place)) for place in self._places()}
        return ToldTotals(counts, count_step=count_step(self._head))

    def effects(self) -> list[Effect]:
        """Estimate the effect over all domains, then over each."""
        return list(self._effects())

    def crossed(self) -> Crossed | None:
        """Estimate the mean of the domains' effects and their difference; None where there is one domain.

        Source: LeakScale Table 17, for the one model of an experiment.
        """
        if len(self._domains) == 1:
            return None
        first, second = self._domains
        cells: Mapping[tuple[str, str], tuple[Outcomes, Outcomes]] = {
            ("", domain): self._cell(domain) for domain in self._domains
        }
        half = Fraction(1, 2)
        weights: Sequence[Mapping[tuple[str, str], Fraction]] = (
            {("", first): half, ("", second): half},
            {("", first): Fraction(1), ("", second): Fraction(-1)},
        )
        mean, difference = (
            crossed_contrast(
                cells,
                each,
                n_resamples=self._head.resample_count,
                seed=self._head.bootstrap_seed,
                alpha=ALPHA,
            )
            for each in weights
        )
        return Crossed((first, second), mean, difference)

    def _cell(self, domain: Domain) -> tuple[Outcomes, Outcomes]:
        c0, c2 = (self._outcomes(domain, condition) for condition in Condition)
        return c0, c2

    def _effects(self) -> Iterator[Effect]:
        for label in (None, *self._domains):
            domains = self._domains if label is None else [label]
            c0, c2 = (
                Outcomes.pooled(*(self._outcomes(each, condition) for each in domains)) for condition in Condition
            )
            yield Effect(
                domain=label,
                registered=difference_in_differences(
                    c0, c2, n_resamples=self._head.resample_count, seed=self._head.bootstrap_seed, alpha=ALPHA
                ),
                exact=difference_in_differences(c0, c2, method="exact", alpha=ALPHA),
            )

    def _places(self) -> Iterator[Place]:
        for domain in self._domains:
            for condition in Condition:
                for state in ModelState:
                    yield domain, condition, state

    def _ids(self, domain: Domain, condition: Condition) -> list[str]:
        return [
            family.family_id for family in self._families if family.domain is domain and family.condition is condition
        ]

    def _outcomes(self, domain: Domain, condition: Condition) -> Outcomes:
        ids = self._ids(domain, condition)
        base, adapted = (self._tallies[domain, state].correct for state in ModelState)
        return Outcomes([base[each] for each in ids], [adapted[each] for each in ids], self._head.draw_count, ids)

    def _total(self, place: Place) -> dict[str, str | int]:
        domain, condition, state = place
        ids, valid = self._ids(domain, condition), self._tallies[domain, state].valid
        return {
            "domain": domain.value,
            "condition": condition.value,
            "state": state.value,
            "family_count": len(ids),
            "draw_count": self._draw_count(place),
            "correct_count": self._correct_count(place),
            "valid_count": sum(valid[each] for each in ids),
        }

    def _draw_count(self, place: Place) -> int:
        domain, condition, _ = place
        return len(self._ids(domain, condition)) * self._head.draw_count

    def _correct_count(self, place: Place) -> int:
        domain, condition, state = place
        correct = self._tallies[domain, state].correct
        return round_count(sum(correct[each] for each in self._ids(domain, condition)), step=count_step(self._head))

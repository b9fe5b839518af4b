"""Everything that is told over some families: totals, estimates that follow from them, and where their intervals end.

Where totals are rounded, no exact estimate leaves: values follow from the totals that are told, and ends of intervals
are set off from those values at distances of a grid, which are the only thing here that all draws were read for.
"""

from __future__ import annotations

from typing import Any

from leakscale.models import Condition, Domain, ModelState, Ring
from leakscale.stats import Interval, IntervalState, ToldEffects, transfer_share
from leakscale.totals import Told, ToldTotals
from leakscale_server.core.disclosure.rounding import round_bounds, round_ends
from leakscale_server.scorer.ring_scores import ALPHA, Crossed, Effect, RingScores

__all__ = ["numbers_of"]


def numbers_of(rings: dict[Ring, RingScores], *, is_exact: bool) -> dict[str, Any]:
    """Write totals and effects in R0, what of them transfers to the other rings, and the domains crossed.

    Args:
        rings: Of the same families; R0 is there.
        is_exact: Whether intervals are told as they were estimated.
    """
    written = {ring: _WrittenRing(scores, is_exact=is_exact) for ring, scores in rings.items()}
    public = written[Ring.R0]
    numbers = public.numbers()
    crossed = public.crossed()
    if crossed is not None:
        numbers["crossed"] = crossed
    others = [ring for ring in rings if ring is not Ring.R0]
    if others:
        numbers["transfers"] = [
            {"ring": ring.value, **written[ring].numbers(), "shares": written[ring].shares_of(public)}
            for ring in others
        ]
    return numbers


class _WrittenRing:
    """What is told of one ring."""

    def __init__(self, scores: RingScores, *, is_exact: bool) -> None:
        self._scores = scores
        self._told: ToldTotals = scores.told()
        self._effects = scores.effects()
        self._is_exact = is_exact

    def numbers(self) -> dict[str, Any]:
        """Write totals, effects, and the changes that these are differences of."""
        return {"totals": self._scores.totals(), "effects": [self._effect(effect) for effect in self._effects]}

    def crossed(self) -> dict[str, Any] | None:
        """Write the mean of two domains' effects and their difference; None where there is one domain."""
        found: Crossed | None = self._scores.crossed()
        if found is None:
            return None
        first, second = (self._told.effect(domain) for domain in found.domains)
        return {
            "domains": [domain.value for domain in found.domains],
            "mean": self._estimate(found.mean, (first + second).halved()),
            "difference": self._estimate(found.difference, first - second),
        }

    def shares_of(self, public: _WrittenRing) -> list[dict[str, Any]]:
        """Divide each effect by that in R0, families joined by id, unless a rule withholds the share."""
        return [self._share(public, *pair) for pair in zip(public._effects, self._effects, strict=True)]

    def _effect(self, effect: Effect) -> dict[str, Any]:
        domain, told = effect.domain, self._told.effect(effect.domain)
        return {
            "domain": domain.value if domain else None,
            "effect": self._estimate(effect.registered.effect, told),
            "effect_exact": self._estimate(effect.exact.effect, told),
            "c0_drift": self._estimate(effect.registered.c0_drift, self._told.change(domain, Condition.C0)),
            "c2_change": self._estimate(effect.registered.c2_change, self._told.change(domain, Condition.C2)),
        }

    def _share(self, public: _WrittenRing, leaked: Effect, other: Effect) -> dict[str, Any]:
        domain = other.domain
        told = ToldEffects(
            public._told.effect(domain).value,
            self._told.effect(domain).value,
            censored=(public._is_at_ceiling(domain), self._is_at_ceiling(domain)),
        )
        found = transfer_share(leaked.registered, other.registered, alpha=ALPHA, told=told)
        bounds = found.bounds if self._is_exact or found.bounds is None else round_bounds(found.bounds)
        return {
            "domain": domain.value if domain else None,
            "share": found.share,
            "bounds": bounds.to_dict() if bounds else None,
            "withheld": found.withheld.value if found.withheld else None,
            "reason": found.reason,
            "is_censored": found.is_fresh_censored,
            "method": found.method,
        }

    def _is_at_ceiling(self, domain: Domain | None) -> bool:
        domains = self._told.domains if domain is None else [domain]
        return self._told.accuracy(domains, Condition.C2, ModelState.ADAPTED).value == 1

    def _estimate(self, interval: Interval, told: Told) -> dict[str, Any]:
        value, low, high, state = float(told.value), interval.low, interval.high, interval.state
        if not self._is_exact:
            below, above = interval.estimate - low, high - interval.estimate
            low, high = round_ends(value, below=below, above=above, error_max=float(told.error_max))
            # Which kind of flat it is would be one more number over the families.
            state = IntervalState.CONSTANT if low == high else IntervalState.ESTIMATED
        return {"value": value, "low": low, "high": high, "state": state.value}

"""A disclosure arranged for the eye: one block a domain, pooled first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from leakscale.models import Condition, Domain, ModelState
from leakscale.results import CellTotal, Disclosure, Effect, Estimate

__all__ = ["Arm", "Block", "Count", "blocks", "domain_name"]

_NAMES = {Domain.SQL: "SQL", Domain.PYTHON: "Python"}


@dataclass(frozen=True, slots=True)
class Count:
    """Correct draws among all draws."""

    correct: int
    draws: int

    @property
    def accuracy(self) -> float:
        """Share of correct draws, in [0, 1]."""
        return self.correct / self.draws if self.draws else 0.0


@dataclass(frozen=True, slots=True)
class Arm:
    """One condition before and after adaptation."""

    condition: Condition
    family_count: int
    base: Count
    adapted: Count
    change: Estimate


@dataclass(frozen=True, slots=True)
class Block:
    """One domain, or all of them: control, exposure, and the difference of their changes."""

    name: str
    control: Arm
    exposed: Arm
    effect: Estimate

    @property
    def arms(self) -> tuple[Arm, Arm]:
        """Control first."""
        return self.control, self.exposed


def domain_name(domain: Domain | None) -> str:
    """Return the name that people use for a domain."""
    return "All domains" if domain is None else _NAMES[domain]


def blocks(disclosure: Disclosure) -> tuple[Block, ...]:
    """Arrange the released numbers; a study of one domain is not shown twice."""
    effects = disclosure.effects
    if len({total.domain for total in disclosure.totals}) == 1 and len(effects) > 1:
        effects = tuple(effect for effect in effects if effect.domain is not None)
    return tuple(_block(effect, disclosure.totals) for effect in effects)


def _block(effect: Effect, totals: Iterable[CellTotal]) -> Block:
    own = [total for total in totals if effect.domain in (None, total.domain)]
    return Block(
        name=domain_name(effect.domain),
        control=_arm(Condition.C0, own, effect.c0_drift),
        exposed=_arm(Condition.C2, own, effect.c2_change),
        effect=effect.effect,
    )


def _arm(condition: Condition, totals: Iterable[CellTotal], change: Estimate) -> Arm:
    own = [total for total in totals if total.condition is condition]
    base = [total for total in own if total.state is ModelState.BASE]
    adapted = [total for total in own if total.state is ModelState.ADAPTED]
    return Arm(condition, sum(total.family_count for total in base), _count(base), _count(adapted), change)


def _count(totals: Iterable[CellTotal]) -> Count:
    rows = list(totals)
    return Count(sum(row.correct_count for row in rows), sum(row.draw_count for row in rows))

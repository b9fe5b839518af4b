"""Whether the values of a disclosure are those that its own totals give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import isclose
from typing import Final

from leakscale.models import Condition
from leakscale.results import CohortNumbers, Disclosure, Effect, disclosure_from_payload
from leakscale.totals import ToldTotals

__all__ = ["require_consistent"]

_ROUNDING: Final = 1e-12
"""Of a share written as a double."""

_Pair = tuple[str, float, Fraction]
"""What it is, the value that is told, and the value that follows."""


def require_consistent(payload: bytes) -> None:
    """Check that totals are multiples of their step, and that changes, effects and shares follow from them.

    Ends of intervals cannot be checked so: they come from single answers.

    Raises:
        IntegrityError: If a total is no multiple, or the bytes are no disclosure.
        ValueError: Naming the first value that does not follow.
    """
    disclosure = disclosure_from_payload(payload, signature=b"", public_key=b"")
    draws = int(disclosure.numbers["draw_count"])
    if disclosure.count_step not in (1, draws):
        raise ValueError(f"totals are in steps of {disclosure.count_step}, neither 1 nor the {draws} draws of a family")
    for name, told, follows in _pairs(disclosure):
        if not isclose(told, follows, rel_tol=0, abs_tol=_ROUNDING):
            raise ValueError(f"{name} is {told}, from the totals follows {float(follows)}")


def _pairs(disclosure: Disclosure) -> Iterator[_Pair]:
    yield from _of_part("", disclosure, count_step=disclosure.count_step)
    for part in disclosure.cohorts:
        yield from _of_part(f"cohort {part.cohort_id}, ", part, count_step=disclosure.count_step)


def _of_part(name: str, part: Disclosure | CohortNumbers, *, count_step: int) -> Iterator[_Pair]:
    told = ToldTotals.of(part.totals, count_step=count_step)
    yield from _of_effects(name, told, part.effects)
    if part.crossed is not None:
        first, second = (told.effect(domain) for domain in part.crossed.domains)
        yield f"{name}mean of the domains", part.crossed.mean.value, (first + second).halved().value
        yield f"{name}difference of the domains", part.crossed.difference.value, (first - second).value
    for transfer in part.transfers:
        other = ToldTotals.of(transfer.totals, count_step=count_step)
        yield from _of_effects(f"{name}{transfer.ring}, ", other, transfer.effects)
        for share in transfer.shares:
            if share.value is not None:
                public, fresh = (each.effect(share.domain).value for each in (told, other))
                where = f"{name}{transfer.ring}, {share.domain or 'all'}"
                yield f"{where}: share times the effect in R0", share.value * float(public), fresh


def _of_effects(name: str, told: ToldTotals, effects: Sequence[Effect]) -> Iterator[_Pair]:
    for each in effects:
        where = f"{name}{each.domain or 'all'}"
        yield f"{where}: effect", each.effect.value, told.effect(each.domain).value
        yield f"{where}: change of C0", each.c0_drift.value, told.change(each.domain, Condition.C0).value
        yield f"{where}: change of C2", each.c2_change.value, told.change(each.domain, Condition.C2).value

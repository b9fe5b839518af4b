"""The attacks, what each may win, and what it won."""

from __future__ import annotations

import enum
import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from leakscale_server.attack import few_families, intervals, runners, totals
from leakscale_server.attack.material import Material, build_material
from leakscale_server.attack.receipts import digests, idempotency, receipts, replay
from leakscale_server.attack.runners import CHANCE, Target
from leakscale_server.attack.victim import Arena
from leakscale_server.attack.weights import WELL_FORMED, WITH_MALFORMED
from leakscale_server.core.disclosure.policy import TIERS

__all__ = ["ATTACKS", "EDITIONS_DEFAULT", "Attack", "Kind", "Outcome", "run_suite"]

EDITIONS_DEFAULT: Final = 20
_RELEASES_OF_PROJECT: Final = TIERS[0].project.release_count
_BLIND_ERRORS: Final = 3.0
"""Standard errors of a guesser that knows nothing, which a bar leaves open: 6.6 keys of 512 in 20 editions."""


class Kind(enum.StrEnum):
    """What is measured, in which unit, and against which bar."""

    BLIND = "blind"
    """Keys above chance, either side, of an attack that must win nothing."""
    DISCLOSED = "disclosed"
    """Keys above chance after four releases; at most 20 in the mean of 20 editions."""
    PROJECT = "project"
    """Keys above chance after all eight releases of a project; at most 30 in the mean of 20 editions."""
    RELEASES = "releases"
    """Releases that are got; at most the allowance."""
    CONTROL = "control"
    """Share of keys, where no policy holds; at least the bar."""


_KEYS_MAX: Final = {Kind.DISCLOSED: 20.0, Kind.PROJECT: 30.0}


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack with its bar."""

    name: str
    kind: Kind
    run: Callable[[Target], float]
    bar: float = 0.0
    """Of `RELEASES` and `CONTROL`; the other bars follow from the number of families and editions."""
    is_once: bool = False
    """Whether one edition is enough, as chance has no part in it."""

    def bar_for(self, *, edition_count: int, family_count: int) -> float:
        """Return the bar on the mean over some editions."""
        allowed = _BLIND_ERRORS * math.sqrt(family_count * CHANCE * (1 - CHANCE) / edition_count)
        if self.kind is Kind.BLIND:
            return allowed
        if self.kind in _KEYS_MAX:
            # So many keys in 20 editions of 512; fewer editions leave more to luck.
            whole = _BLIND_ERRORS * math.sqrt(family_count * CHANCE * (1 - CHANCE) / EDITIONS_DEFAULT)
            return _KEYS_MAX[self.kind] + max(0.0, allowed - whole)
        return self.bar


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an attack won."""

    attack: Attack
    values: tuple[float, ...]
    """One an edition."""
    bar: float

    @property
    def mean(self) -> float:
        """Return the mean over the editions."""
        return float(np.mean(self.values))

    @property
    def holds(self) -> bool:
        """Tell whether the bar is kept."""
        if self.attack.kind is Kind.CONTROL:
            return min(self.values) >= self.bar
        if self.attack.kind is Kind.RELEASES:
            return max(self.values) <= self.bar
        return (abs(self.mean) if self.attack.kind is Kind.BLIND else self.mean) <= self.bar

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "attack": self.attack.name,
            "kind": self.attack.kind.value,
            "values": list(self.values),
            "mean": self.mean,
            "bar": self.bar,
            "holds": self.holds,
        }


_SPREAD_READING: Final = partial(
    runners.by_intervals, intervals.spread_reading, resample_count=intervals.RESAMPLE_COUNT
)
_FEW_FAMILIES: Final = partial(
    runners.by_intervals, few_families.few_families, resample_count=few_families.RESAMPLE_COUNT
)

ATTACKS: Final = (
    Attack("practice edition, 8 banks of 16 families", Kind.CONTROL, runners.practice, bar=0.99),
    Attack("no policy, 8 banks of 16 families", Kind.CONTROL, partial(runners.without_policy, 16, 8), bar=0.95),
    Attack(
        "no policy, 192 banks of 512 families",
        Kind.CONTROL,
        partial(runners.without_policy, 512, 192),
        bar=0.95,
    ),
    Attack("receipts", Kind.BLIND, partial(runners.by_observing, receipts)),
    Attack("replay", Kind.BLIND, partial(runners.by_observing, replay)),
    Attack("idempotency", Kind.BLIND, partial(runners.by_observing, idempotency)),
    Attack("digests without a nonce", Kind.BLIND, partial(runners.by_observing, digests)),
    Attack("C0 after a grant of C2", Kind.BLIND, runners.by_grant),
    Attack("elimination", Kind.DISCLOSED, partial(runners.by_totals, totals.elimination)),
    Attack("boosting", Kind.DISCLOSED, partial(runners.by_totals, totals.boosting)),
    Attack("least squares", Kind.DISCLOSED, partial(runners.by_totals, totals.random_designs)),
    Attack("leave one out", Kind.DISCLOSED, partial(runners.by_totals, totals.leave_one_out)),
    Attack("weights of 32 draws, malformed allowed", Kind.DISCLOSED, partial(runners.by_weights, WITH_MALFORMED)),
    Attack("weights of 32 draws, well-formed", Kind.DISCLOSED, partial(runners.by_weights, WELL_FORMED)),
    Attack("intervals beside totals", Kind.DISCLOSED, _SPREAD_READING),
    Attack("a few families by their intervals", Kind.DISCLOSED, _FEW_FAMILIES),
    Attack("overlapping cohorts", Kind.DISCLOSED, runners.by_cohorts),
    Attack(
        "least squares, eight totals",
        Kind.PROJECT,
        partial(runners.by_totals, totals.random_designs, release_count=_RELEASES_OF_PROJECT),
    ),
    Attack(
        "weights of 32 draws, eight totals",
        Kind.PROJECT,
        partial(runners.by_weights, WITH_MALFORMED, release_count=_RELEASES_OF_PROJECT),
    ),
    Attack(
        "intervals beside eight totals",
        Kind.PROJECT,
        partial(_SPREAD_READING, release_count=_RELEASES_OF_PROJECT),
    ),
    Attack("eight principals of eight projects", Kind.RELEASES, runners.eight_principals, bar=16, is_once=True),
    Attack("16 threads of one project", Kind.RELEASES, partial(runners.race, 1), bar=8, is_once=True),
    Attack("16 threads of 16 projects", Kind.RELEASES, partial(runners.race, 16), bar=16, is_once=True),
)


def run_suite(
    attacks: Sequence[Attack],
    *,
    edition_count: int,
    material: Callable[[int], Material] = build_material,
    advance: Callable[[], None] = lambda: None,
) -> Iterator[Outcome]:
    """Run attacks on fresh editions, and give their outcomes in the order of the attacks.

    Args:
        attacks: Which.
        edition_count: Fresh editions of 512 attacked families.
        material: Builds the edition of a number.
        advance: Called after every attack on every edition.
    """
    values: dict[str, list[float]] = {attack.name: [] for attack in attacks}
    family_count = 0
    for number in range(edition_count):
        with tempfile.TemporaryDirectory() as folder:
            target = Target(Arena(material(number), Path(folder)), seed=number)
            family_count = len(target.ids)
            for attack in attacks:
                if number == 0 or not attack.is_once:
                    values[attack.name].append(attack.run(target))
                advance()
    for attack in attacks:
        bar = attack.bar_for(edition_count=edition_count, family_count=family_count)
        yield Outcome(attack, tuple(values[attack.name]), bar)

"""The attacks, what each may win, and what it won."""

from __future__ import annotations

import enum
import functools
import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from leakscale.models import Condition, Family
from leakscale_server.attack import totals
from leakscale_server.attack.budgets import cohort_overlap, releases_by_race, releases_by_turns
from leakscale_server.attack.grants import control_by_exposed, truths_in
from leakscale_server.attack.intervals import RESAMPLE_COUNT, spread_reading
from leakscale_server.attack.material import Material, build_material
from leakscale_server.attack.probes import BareOracle, Guesses, Oracle, ServerOracle
from leakscale_server.attack.receipts import Observations, digests, idempotency, odd_ones_out, receipts, replay
from leakscale_server.attack.victim import OWNER, Arena, Client, Victim
from leakscale_server.attack.weights import DRAW_COUNT, WELL_FORMED, WITH_MALFORMED, Code, weight_coding
from leakscale_server.core.disclosure.policy import TIERS
from leakscale_server.identity.scopes import Role

__all__ = ["ATTACKS", "EDITIONS_DEFAULT", "Attack", "Kind", "Outcome", "Target", "run_suite"]

EDITIONS_DEFAULT: Final = 20
_TARGETS: Final = Condition.C0
_RELEASES: Final = 4
_RELEASES_OF_PROJECT: Final = TIERS[0].project.release_count
_CHANCE: Final = 0.25
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
class Target:
    """What an attack is run against."""

    arena: Arena
    seed: int

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the ids of the attacked families."""
        return tuple(each.family_id for each in self.arena.material.targets(_TARGETS))

    @property
    def families(self) -> list[Family]:
        """Return what the public sees of them in R0."""
        return [each.rings[0] for each in self.arena.material.targets(_TARGETS)]

    @property
    def truths(self) -> Guesses:
        """Return what is to be found out."""
        return np.array([each.association.truth for each in self.arena.material.targets(_TARGETS)], dtype=np.int64)

    def keys_above_chance(self, guesses: Guesses) -> float:
        """Return how many guesses are right beyond those that chance gives."""
        return float((guesses == self.truths).sum() - _CHANCE * len(self.truths))


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
        allowed = _BLIND_ERRORS * math.sqrt(family_count * _CHANCE * (1 - _CHANCE) / edition_count)
        if self.kind is Kind.BLIND:
            return allowed
        if self.kind in _KEYS_MAX:
            # So many keys in 20 editions of 512; fewer editions leave more to luck.
            whole = _BLIND_ERRORS * math.sqrt(family_count * _CHANCE * (1 - _CHANCE) / EDITIONS_DEFAULT)
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


def _by_totals(attack: Callable[..., Guesses], target: Target, *, release_count: int = _RELEASES) -> float:
    with target.arena.victim() as victim:
        oracle = _server_oracle(victim, target, draw_count=1)
        found = attack(oracle, family_count=len(target.ids), release_count=release_count, seed=target.seed)
        return target.keys_above_chance(found)


def _by_weights(code: Code, target: Target, *, release_count: int = _RELEASES) -> float:
    with target.arena.victim() as victim:
        return target.keys_above_chance(_weighed(_server_oracle(victim, target), target, release_count, code))


def _by_intervals(target: Target, *, release_count: int = _RELEASES) -> float:
    """Attack with the help of a trainer, who tells what its grant gave."""
    with target.arena.victim() as victim:
        trainer = victim.client(Role.TRAINER, principal="trudy", project="trainers")
        known = truths_in(trainer.corpus(), trainer.families())
        oracle = _server_oracle(victim, target, resample_count=RESAMPLE_COUNT)
        found = spread_reading(
            oracle, family_count=len(target.ids), release_count=release_count, known=known, seed=target.seed
        )
        return target.keys_above_chance(found)


def _weighed(oracle: Oracle, target: Target, release_count: int, code: Code = WITH_MALFORMED) -> Guesses:
    return weight_coding(oracle, family_count=len(target.ids), release_count=release_count, code=code, seed=target.seed)


def _server_oracle(
    victim: Victim,
    target: Target,
    *,
    draw_count: int = DRAW_COUNT,
    resample_count: int = 100,
    project: str = "attackers",
) -> ServerOracle:
    return ServerOracle(
        [victim.client(Role.AUDITOR, project=project)],
        condition=_TARGETS,
        targets=target.ids,
        draw_count=draw_count,
        resample_count=resample_count,
    )


def _by_observing(observe: Callable[[Client, Sequence[Family]], Observations], target: Target) -> float:
    with target.arena.victim() as victim:
        seen = observe(victim.client(Role.AUDITOR), target.families)
    return target.keys_above_chance(odd_ones_out(seen, seed=(target.seed, len(seen), *observe.__name__.encode())))


def _by_grant(target: Target) -> float:
    with target.arena.victim() as victim:
        found = control_by_exposed(victim.client(Role.TRAINER), target.families, seed=target.seed)
    return target.keys_above_chance(found)


def _by_cohorts(target: Target) -> float:
    with target.arena.victim() as victim:
        client = victim.client(Role.AUDITOR)
        return target.keys_above_chance(
            cohort_overlap(client, targets=target.ids, condition=_TARGETS, seed=target.seed)
        )


def _eight_principals(target: Target) -> float:
    with target.arena.victim() as victim:
        clients = [victim.client(Role.AUDITOR, principal=f"p-{n}", project=f"p-{n}") for n in range(8)]
        return releases_by_turns(clients, tries_each=4)


def _race(project_count: int, target: Target) -> float:
    with target.arena.victim() as victim:
        clients = [victim.client(Role.AUDITOR, principal=f"p-{n}", project=f"p-{n % project_count}") for n in range(16)]
        return releases_by_race(clients)


def _practice(target: Target) -> float:
    """Attack an edition that its author may read, through the same server, by the same probes."""
    with tempfile.TemporaryDirectory() as folder:
        arena = Arena(build_material(target.seed, shape_count=1), Path(folder), kind="practice")
        practice = Target(arena, target.seed)
        with arena.victim() as victim:
            found = _weighed(_server_oracle(victim, practice, project=OWNER), practice, 8)
    return float((found == practice.truths).mean())


def _without_policy(family_count: int, release_count: int, target: Target) -> float:
    truths = target.truths[:family_count]
    found = weight_coding(
        BareOracle(truths),
        family_count=family_count,
        release_count=release_count,
        code=WITH_MALFORMED,
        seed=target.seed,
    )
    return float((found == truths).mean())


ATTACKS: Final = (
    Attack("practice edition, 8 banks of 16 families", Kind.CONTROL, _practice, bar=0.99),
    Attack("no policy, 8 banks of 16 families", Kind.CONTROL, functools.partial(_without_policy, 16, 8), bar=0.95),
    Attack(
        "no policy, 192 banks of 512 families", Kind.CONTROL, functools.partial(_without_policy, 512, 192), bar=0.95
    ),
    Attack("receipts", Kind.BLIND, functools.partial(_by_observing, receipts)),
    Attack("replay", Kind.BLIND, functools.partial(_by_observing, replay)),
    Attack("idempotency", Kind.BLIND, functools.partial(_by_observing, idempotency)),
    Attack("digests without a nonce", Kind.BLIND, functools.partial(_by_observing, digests)),
    Attack("C0 after a grant of C2", Kind.BLIND, _by_grant),
    Attack("elimination", Kind.DISCLOSED, functools.partial(_by_totals, totals.elimination)),
    Attack("boosting", Kind.DISCLOSED, functools.partial(_by_totals, totals.boosting)),
    Attack("least squares", Kind.DISCLOSED, functools.partial(_by_totals, totals.random_designs)),
    Attack("leave one out", Kind.DISCLOSED, functools.partial(_by_totals, totals.leave_one_out)),
    Attack("weights of 32 draws, malformed allowed", Kind.DISCLOSED, functools.partial(_by_weights, WITH_MALFORMED)),
    Attack("weights of 32 draws, well-formed", Kind.DISCLOSED, functools.partial(_by_weights, WELL_FORMED)),
    Attack("intervals beside totals", Kind.DISCLOSED, _by_intervals),
    Attack("overlapping cohorts", Kind.DISCLOSED, _by_cohorts),
    Attack(
        "least squares, eight totals",
        Kind.PROJECT,
        functools.partial(_by_totals, totals.random_designs, release_count=_RELEASES_OF_PROJECT),
    ),
    Attack(
        "weights of 32 draws, eight totals",
        Kind.PROJECT,
        functools.partial(_by_weights, WITH_MALFORMED, release_count=_RELEASES_OF_PROJECT),
    ),
    Attack(
        "intervals beside eight totals",
        Kind.PROJECT,
        functools.partial(_by_intervals, release_count=_RELEASES_OF_PROJECT),
    ),
    Attack("eight principals of eight projects", Kind.RELEASES, _eight_principals, bar=16, is_once=True),
    Attack("16 threads of one project", Kind.RELEASES, functools.partial(_race, 1), bar=8, is_once=True),
    Attack("16 threads of 16 projects", Kind.RELEASES, functools.partial(_race, 16), bar=16, is_once=True),
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

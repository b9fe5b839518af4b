"""Attacks as they are run: against a server of their own over a fresh edition, and counted in keys or releases."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from leakscale.models import Condition, Family
from leakscale_server.attack.budgets import cohort_overlap, releases_by_race, releases_by_turns
from leakscale_server.attack.grants import control_by_exposed, truths_in
from leakscale_server.attack.material import build_material
from leakscale_server.attack.probes import BareOracle, Guesses, Oracle, ServerOracle
from leakscale_server.attack.receipts import Observations, odd_ones_out
from leakscale_server.attack.victim import OWNER, Arena, Client, Victim
from leakscale_server.attack.weights import DRAW_COUNT, WITH_MALFORMED, Code, weight_coding
from leakscale_server.identity.scopes import Role

__all__ = [
    "CHANCE",
    "RELEASES",
    "Target",
    "by_cohorts",
    "by_grant",
    "by_intervals",
    "by_observing",
    "by_totals",
    "by_weights",
    "eight_principals",
    "practice",
    "race",
    "without_policy",
]

CHANCE: Final = 0.25
RELEASES: Final = 4
_TARGETS: Final = Condition.C0


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
        return float((guesses == self.truths).sum() - CHANCE * len(self.truths))


def by_totals(attack: Callable[..., Guesses], target: Target, *, release_count: int = RELEASES) -> float:
    """Run an attack that reads totals of one draw."""
    with target.arena.victim() as victim:
        oracle = _server_oracle(victim, target, draw_count=1)
        found = attack(oracle, family_count=len(target.ids), release_count=release_count, seed=target.seed)
        return target.keys_above_chance(found)


def by_weights(code: Code, target: Target, *, release_count: int = RELEASES) -> float:
    """Run the attack that uses 32 draws as weights."""
    with target.arena.victim() as victim:
        return target.keys_above_chance(_weighed(_server_oracle(victim, target), target, release_count, code))


def by_intervals(
    attack: Callable[..., Guesses], target: Target, *, resample_count: int, release_count: int = RELEASES
) -> float:
    """Run an attack that reads intervals, with the help of a trainer who tells what its grant gave."""
    with target.arena.victim() as victim:
        trainer = victim.client(Role.TRAINER, principal="trudy", project="trainers")
        known = truths_in(trainer.corpus(), trainer.families())
        oracle = _server_oracle(victim, target, resample_count=resample_count)
        return target.keys_above_chance(
            attack(oracle, family_count=len(target.ids), release_count=release_count, known=known, seed=target.seed)
        )


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


def by_observing(observe: Callable[[Client, Sequence[Family]], Observations], target: Target) -> float:
    """Guess from what comes back before anything is disclosed."""
    with target.arena.victim() as victim:
        seen = observe(victim.client(Role.AUDITOR), target.families)
    return target.keys_above_chance(odd_ones_out(seen, seed=(target.seed, len(seen), *observe.__name__.encode())))


def by_grant(target: Target) -> float:
    """Run the attack of a trainer on the families that no grant tells of."""
    with target.arena.victim() as victim:
        found = control_by_exposed(victim.client(Role.TRAINER), target.families, seed=target.seed)
    return target.keys_above_chance(found)


def by_cohorts(target: Target) -> float:
    """Run the attack that asks for nested cohorts."""
    with target.arena.victim() as victim:
        client = victim.client(Role.AUDITOR)
        return target.keys_above_chance(
            cohort_overlap(client, targets=target.ids, condition=_TARGETS, seed=target.seed)
        )


def eight_principals(target: Target) -> float:
    """Return how many releases eight principals of eight projects get by turns."""
    with target.arena.victim() as victim:
        clients = [victim.client(Role.AUDITOR, principal=f"p-{n}", project=f"p-{n}") for n in range(8)]
        return releases_by_turns(clients, tries_each=4)


def race(project_count: int, target: Target) -> float:
    """Return how many releases 16 principals of so many projects get at once."""
    with target.arena.victim() as victim:
        clients = [victim.client(Role.AUDITOR, principal=f"p-{n}", project=f"p-{n % project_count}") for n in range(16)]
        return releases_by_race(clients)


def practice(target: Target) -> float:
    """Attack an edition that its author may read, through the same server, by the same probes."""
    with tempfile.TemporaryDirectory() as folder:
        arena = Arena(build_material(target.seed, shape_count=1), Path(folder), kind="practice")
        practice = Target(arena, target.seed)
        with arena.victim() as victim:
            found = _weighed(_server_oracle(victim, practice, project=OWNER), practice, 8)
    return float((found == practice.truths).mean())


def without_policy(family_count: int, release_count: int, target: Target) -> float:
    """Return the share of keys that exact totals give, as many as asked for and over as few families."""
    truths = target.truths[:family_count]
    found = weight_coding(
        BareOracle(truths),
        family_count=family_count,
        release_count=release_count,
        code=WITH_MALFORMED,
        seed=target.seed,
    )
    return float((found == truths).mean())

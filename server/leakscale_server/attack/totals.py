"""Attacks that live on disclosed totals, each given the same number of releases."""

from __future__ import annotations

import numpy as np

from leakscale_server.attack.probes import Guesses, Oracle, Probe, best_guesses, least_squares

__all__ = ["boosting", "elimination", "leave_one_out", "random_designs"]

_MOVED_SHARE = 0.25


def random_designs(oracle: Oracle, *, family_count: int, release_count: int, seed: int) -> Guesses:
    """Answer at random, and solve for what the totals say by least squares."""
    generator = np.random.default_rng(seed)
    probes = [_random(family_count, generator) for _ in range(release_count)]
    return _solved(oracle, probes)


def leave_one_out(oracle: Oracle, *, family_count: int, release_count: int, seed: int) -> Guesses:
    """Change one family between the two banks of an experiment: what changes in the totals is that family's alone."""
    generator = np.random.default_rng(seed)
    probes = []
    for family in generator.permutation(family_count)[: release_count // 2]:
        base = _random(family_count, generator)
        adapted = base.copy()
        adapted[family] = np.roll(base[family], 1)
        probes += [base, adapted]
    return _solved(oracle, probes)


def boosting(oracle: Oracle, *, family_count: int, release_count: int, seed: int) -> Guesses:
    """Keep the random answers that scored above chance, and let them vote.

    Source: Blum and Hardt, The Ladder, 2015, section 4 (the boosting attack).
    """
    generator = np.random.default_rng(seed)
    votes = generator.random((family_count, 4)) * 1e-6  # ties are broken at random
    for _ in range(release_count // 2):
        pair = (_random(family_count, generator), _random(family_count, generator))
        for probe, total in zip(pair, oracle.totals(*pair), strict=True):
            votes += probe if total > family_count / 4 else 0
    return best_guesses(votes)


def elimination(oracle: Oracle, *, family_count: int, release_count: int, seed: int) -> Guesses:
    """Move a quarter of the answers to other candidates, and strike those that made the total fall."""
    generator = np.random.default_rng(seed)
    current = generator.integers(4, size=family_count)
    best = family_count / 4
    for _ in range(release_count // 2):
        moved = [_moved(current, generator) for _ in range(2)]
        totals = oracle.totals(_one_draw(moved[0]), _one_draw(moved[1]))
        place = int(np.argmax(totals))
        if totals[place] > best:
            current, best = moved[place], totals[place]
    return current


def _solved(oracle: Oracle, probes: list[Probe]) -> Guesses:
    totals = [total for first in range(0, len(probes), 2) for total in oracle.totals(probes[first], probes[first + 1])]
    return best_guesses(least_squares(probes, totals, np.ones_like(probes[0], dtype=bool)))


def _random(family_count: int, generator: np.random.Generator) -> Probe:
    return _one_draw(generator.integers(4, size=family_count))


def _one_draw(choices: Guesses) -> Probe:
    probe = np.zeros((len(choices), 4), dtype=np.int64)
    probe[np.arange(len(choices)), choices] = 1
    return probe


def _moved(choices: Guesses, generator: np.random.Generator) -> Guesses:
    steps = generator.integers(1, 4, size=len(choices)) * (generator.random(len(choices)) < _MOVED_SHARE)
    return np.asarray((choices + steps) % 4, dtype=np.int64)

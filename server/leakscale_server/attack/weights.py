"""Draws as weights: a total of many draws, read digit by digit.

Coded families answer each candidate a different number of times, so small that their sum stays below the draws of a
family. All others put all draws on one candidate, so what they add is a multiple of the draws. The total modulo the
draws then names what the coded ones added, and the rest is an exact total over the others.

A total that is rounded to multiples of the draws has no such digits; what is left is a total with a small error.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from leakscale.totals import round_count
from leakscale_server.attack.probes import Guesses, Oracle, Probe, best_guesses, least_squares

__all__ = ["DRAW_COUNT", "WELL_FORMED", "WITH_MALFORMED", "Code", "weight_coding"]

DRAW_COUNT: Final = 32
_Row = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Code:
    """How coded families of one total answer."""

    whole: tuple[_Row, ...]
    """Rows that tell four candidates apart, one a family."""
    halves: tuple[tuple[_Row, _Row], ...]
    """Rows that tell two from two, in the base and in the adapted bank, one pair a family: both together tell all."""

    @property
    def base(self) -> tuple[_Row, ...]:
        """Return the rows of a base bank: those of `whole`, then a half of each pair."""
        return (*self.whole, *(first for first, _ in self.halves))

    @property
    def adapted(self) -> tuple[_Row, ...]:
        """Return the rows of an adapted bank."""
        return (*self.whole, *(second for _, second in self.halves))


WITH_MALFORMED: Final = Code(
    whole=((0, 1, 2, 3), (0, 4, 8, 12)),
    halves=(((0, 0, 16, 16), (0, 16, 0, 16)),),
)
WELL_FORMED: Final = Code(
    whole=((6, 7, 9, 10),),
    halves=(((5, 5, 11, 11), (5, 11, 5, 11)), ((2, 2, 14, 14), (2, 14, 2, 14))),
)
"""Every row fills all draws, so that nothing about the bank looks odd."""


@dataclass(frozen=True, slots=True)
class _Coded:
    families: tuple[int, ...]
    rows: tuple[_Row, ...]


def weight_coding(oracle: Oracle, *, family_count: int, release_count: int, code: Code, seed: int) -> Guesses:
    """Learn some families exactly from the low digits of every total, and a little of all others from the rest."""
    generator = np.random.default_rng(seed)
    order = generator.permutation(family_count).tolist()
    possible = np.ones((family_count, 4), dtype=bool)
    probes: list[Probe] = []
    totals: list[int] = []
    for _ in range(release_count // 2):
        pair = _coded_pair(order, code)
        bulk = [_bulk(family_count, generator) for _ in pair]
        asked = [_with_rows(probe, coded) for probe, coded in zip(bulk, pair, strict=True)]
        for coded, probe, total in zip(pair, asked, oracle.totals(asked[0], asked[1]), strict=True):
            _rule_out(possible, coded, total, count_step=oracle.count_step)
            probes.append(probe)
            totals.append(total)
    error = (oracle.count_step**2 - 1) / 12
    return best_guesses(least_squares(probes, totals, possible, variances=[error] * len(probes)))


def _coded_pair(order: list[int], code: Code) -> tuple[_Coded, _Coded]:
    """Take the next families that are not coded yet: each bank's own for `whole`, the same in both for `halves`."""
    halves, rest = _taken(order, len(code.halves)), []
    for rows in (code.base, code.adapted):
        families = _taken(order, len(code.whole))
        chosen = (*rows[: len(families)], *rows[len(code.whole) :][: len(halves)])
        rest.append(_Coded((*families, *halves), chosen))
    return rest[0], rest[1]


def _taken(order: list[int], count: int) -> list[int]:
    taken, order[:] = order[:count], order[count:]
    return taken


def _bulk(family_count: int, generator: np.random.Generator) -> Probe:
    probe = np.zeros((family_count, 4), dtype=np.int64)
    probe[np.arange(family_count), generator.integers(4, size=family_count)] = DRAW_COUNT
    return probe


def _with_rows(probe: Probe, coded: _Coded) -> Probe:
    for family, row in zip(coded.families, coded.rows, strict=True):
        probe[family] = row
    return probe


def _rule_out(possible: NDArray[np.bool_], coded: _Coded, total: int, *, count_step: int) -> None:
    """Keep the candidates of coded families that fit the low digits of a total, if it has any."""
    fitting = [
        choice
        for choice in itertools.product(range(4), repeat=len(coded.rows))
        if (round_count(_sum_of(coded, choice), step=count_step) - total) % DRAW_COUNT == 0
    ]
    for position, family in enumerate(coded.families):
        seen = {choice[position] for choice in fitting}
        possible[family] &= [place in seen for place in range(4)]


def _sum_of(coded: _Coded, choice: Sequence[int]) -> int:
    return sum(row[place] for row, place in zip(coded.rows, choice, strict=True))


def rows_are_told_apart(rows: Sequence[_Row]) -> bool:
    """Tell whether every sum of one entry a row says which value of each row it has."""
    sums = [sum(values) % DRAW_COUNT for values in itertools.product(*(sorted(set(row)) for row in rows))]
    return len(set(sums)) == len(sums)

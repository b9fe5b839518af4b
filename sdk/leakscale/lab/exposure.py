"""Simulated families and parents for the laboratory of exposure effects.

A law says how the families of a condition change under adaptation, and what the effect in the population is, so that
an interval can be said to cover it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from leakscale.stats import DidResult, Outcomes, difference_in_differences

__all__ = ["DRAWS", "LAWS", "SHAPES", "Law", "ShapeSample", "Study", "fixed_shapes", "sampled_shapes"]

DRAWS: Final = 32
"""Draws of a family in each model state, as in the paper."""
SHAPES: Final = 32
_FAMILIES_PER_SHAPE: Final = 16

Counts = NDArray[np.int64]
_Arm = Callable[[np.random.Generator, int], tuple[Counts, Counts]]


@dataclass(frozen=True, slots=True)
class Law:
    """How families of C0 and C2 change."""

    c0: _Arm
    c2: _Arm
    effect: float
    """C2 change minus C0 change in the population, as a share."""

    def draw(self, rng: np.random.Generator, families: int) -> tuple[Outcomes, Outcomes]:
        """Sample `families` of each condition."""
        return Outcomes(*self.c0(rng, families), DRAWS), Outcomes(*self.c2(rng, families), DRAWS)


def _graded(shift: float) -> _Arm:
    """Families of unequal difficulty, mean .25; accuracy p becomes p + shift (1 - p), or (1 + shift) p below 0."""

    def draw(rng: np.random.Generator, families: int) -> tuple[Counts, Counts]:
        before = rng.beta(0.4, 1.2, families)
        after = before + shift * (1 - before) if shift > 0 else (1 + shift) * before
        return rng.binomial(DRAWS, before), rng.binomial(DRAWS, after)

    return draw


def _learned(chance: float) -> _Arm:
    """Families of which each is either learned outright, with this chance, or not at all."""

    def draw(rng: np.random.Generator, families: int) -> tuple[Counts, Counts]:
        before = rng.beta(0.4, 1.2, families)
        after = np.where(rng.random(families) < chance, 1.0, before)
        return rng.binomial(DRAWS, before), rng.binomial(DRAWS, after)

    return draw


def _jumping(chance: float) -> _Arm:
    """Families that a model always fails, and after adaptation always solves with this chance."""

    def draw(rng: np.random.Generator, families: int) -> tuple[Counts, Counts]:
        jumped = (rng.random(families) < chance).astype(np.int64)
        return np.zeros(families, np.int64), DRAWS * jumped

    return draw


LAWS: Final[Mapping[str, Law]] = {
    "graded": Law(_graded(-0.08), _graded(0.16), effect=0.16 * 0.75 + 0.08 * 0.25),
    "bimodal": Law(_graded(-0.08), _learned(0.30), effect=0.30 * 0.75 + 0.08 * 0.25),
    "rare jumps": Law(_jumping(0.0), _jumping(0.05), effect=0.05),
}
"""`graded`: all families move a little. `bimodal`: three in ten are learned outright. `rare jumps`: one in twenty is,
and nothing else moves, so that a small sample often holds no jump at all."""


@dataclass(frozen=True, slots=True)
class ShapeSample:
    """512 + 512 families of 32 shapes that are learned unequally."""

    c0: Outcomes
    c2: Outcomes
    labels: tuple[NDArray[np.int64], NDArray[np.int64]]
    effect: float
    """What an interval should cover: over all shapes there might be, or over these."""


_CHANCE: Final = (1.2, 2.8)
"""Beta law of the chance with which the families of a shape are learned; its mean is .3."""


def sampled_shapes(rng: np.random.Generator) -> ShapeSample:
    """Draw 32 shapes out of all there might be; the effect is over those."""
    return _families_of(rng, rng.beta(*_CHANCE, SHAPES), effect=0.30)


def fixed_shapes(rng: np.random.Generator) -> ShapeSample:
    """Take the same 32 shapes each time; the effect is over them."""
    chances = (np.arange(SHAPES) + 0.5) / SHAPES * 0.6
    return _families_of(rng, chances, effect=float(chances.mean()))


def _families_of(rng: np.random.Generator, chances: NDArray[np.float64], effect: float) -> ShapeSample:
    shapes = np.repeat(np.arange(SHAPES), _FAMILIES_PER_SHAPE)
    failed = np.zeros(shapes.size, np.int64)
    learned = DRAWS * (rng.random(shapes.size) < chances[shapes])
    drifted = (rng.random(shapes.size) < 0.5).astype(np.int64)
    return ShapeSample(
        c0=Outcomes(drifted, 1 - drifted, DRAWS),
        c2=Outcomes(failed, learned.astype(np.int64), DRAWS),
        labels=(shapes, shapes),
        effect=effect,
    )


_Column = NDArray[np.float64]
"""Of shape (parents, 1)."""


def _eases(rng: np.random.Generator, parents: int) -> _Column:
    """Draw how easy each parent is."""
    return np.clip(rng.normal(0.5, 0.2, (parents, 1)), 0.2, 0.8)


@dataclass(frozen=True, slots=True)
class Study:
    """A positive control of 100 exposed and 100 untouched parents: planted effect and what of it transfers."""

    public: float
    """Effect on the public form, as a share."""
    fresh: float
    """Effect on the two fresh forms."""

    @property
    def share(self) -> float:
        """The transferred share."""
        return self.fresh / self.public

    @property
    def gap(self) -> float:
        """What an audit of public against fresh forms would see."""
        return self.public - self.fresh

    def draw(self, rng: np.random.Generator, parents: int = 100) -> tuple[DidResult, DidResult]:
        """Sample one study: the effect on the public form and on the fresh forms of the same parents."""
        c0, c2 = (self._group(rng, _eases(rng, parents), is_exposed=exposed) for exposed in (False, True))
        public, fresh = (
            difference_in_differences(before, after, method="exact") for before, after in zip(c0, c2, strict=True)
        )
        return public, fresh

    def _group(
        self,
        rng: np.random.Generator,
        ease: _Column,
        *,
        is_exposed: bool,
        luck: _Column | None = None,
        ids: Sequence[str] | None = None,
    ) -> tuple[Outcomes, Outcomes]:
        """Answer public form and fresh forms before and after training, which costs everybody a little."""
        parents = ease.shape[0]
        before = rng.random((parents, 3)) < ease
        lost = rng.random((parents, 3)) < 0.1
        after = np.where(rng.random((parents, 3)) < 0.3, rng.random((parents, 3)) < ease, before) & ~lost
        if is_exposed:
            after = self._planted(after, ease, rng.random((parents, 1)) if luck is None else luck)
        counts = before.astype(np.int64), after.astype(np.int64)
        return (
            Outcomes(counts[0][:, 0], counts[1][:, 0], 1, ids),
            Outcomes(counts[0][:, 1:].sum(axis=1), counts[1][:, 1:].sum(axis=1), 2, ids),
        )

    def _planted(self, after: NDArray[np.bool_], ease: _Column, luck: _Column) -> NDArray[np.bool_]:
        """Turn wrong answers right so that each form's accuracy rises by its effect, on the same parents first."""
        chance_of_wrong = 1 - 0.9 * ease
        effects = np.array([self.public, self.fresh, self.fresh])
        turned: NDArray[np.bool_] = after | (luck < effects / chance_of_wrong)
        return turned

    def draw_several(
        self, rng: np.random.Generator, *, count: int, assigned: str, parents: int = 100
    ) -> dict[str, dict[str, DidResult]]:
        """Sample studies of the same parents, whom a leak finds as easy to plant in each of them.

        Args:
            rng: Source of all randomness.
            count: Studies.
            assigned: `alike`, the same parents are exposed in all; or `anew`, drawn for each.
            parents: Exposed ones of a study, and untouched ones.
        """
        ease, luck, order = _eases(rng, 2 * parents), rng.random((2 * parents, 1)), np.arange(2 * parents)
        studies = {}
        for number in range(count):
            if assigned == "anew":
                order = rng.permutation(2 * parents)
            c0, c2 = (
                self._group(rng, ease[rows], is_exposed=exposed, luck=luck[rows], ids=[f"p{row}" for row in rows])
                for rows, exposed in ((order[:parents], False), (order[parents:], True))
            )
            studies[f"study {number}"] = {
                form: difference_in_differences(before, after, method="exact")
                for form, before, after in zip(("public", "fresh"), c0, c2, strict=True)
            }
        return studies

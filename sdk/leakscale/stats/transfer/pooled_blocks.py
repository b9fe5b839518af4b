"""What is drawn together when effects are pooled: a parent, with all that any study measured on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from leakscale.stats.exposure.contrasts import Weights
from leakscale.stats.exposure.did import DidResult
from leakscale.stats.exposure.joint import JointChanges, joint_changes
from leakscale.stats.exposure.outcomes import Outcomes

__all__ = ["PooledBlocks", "Studies", "pooled_blocks"]

Studies = Mapping[str, Mapping[str, DidResult]]
"""Of each study, the exposure effect on each form."""
_C0: Final = -1
_C2: Final = 1


@dataclass(frozen=True, slots=True)
class _Column:
    """One outcome of a block."""

    form: str
    sign: int
    """Of its change in the exposure effect."""


@dataclass(frozen=True, slots=True, eq=False)
class PooledBlocks:
    """Groups of parents that are drawn apart, and where each effect is in them."""

    blocks: tuple[JointChanges, ...]
    columns: tuple[tuple[_Column, ...], ...]
    """What each outcome of each block is."""
    parent_count: int
    """Different parents in all studies."""
    is_crossed: bool
    """Whether a parent is exposed in one study and untouched in another."""

    def weights(self, forms: Mapping[str, int]) -> Weights:
        """Return the weights of a sum of pooled effects, each the mean over the studies that have the form."""
        counts = {form: sum(column.form == form for each in self.columns for column in each) // 2 for form in forms}
        return tuple(
            tuple(
                Fraction(column.sign * forms[column.form], counts[column.form]) if column.form in forms else Fraction()
                for column in each
            )
            for each in self.columns
        )

    def __str__(self) -> str:
        """Say what was drawn."""
        together = f"{self.parent_count} parents, each with every form, state and study that it is in"
        if self.is_crossed:
            return f"{together}; some are exposed in one study and untouched in another, so all are drawn together"
        return f"{together}; exposed and untouched ones apart"


def pooled_blocks(studies: Studies) -> PooledBlocks:
    """Match the parents of several studies.

    Where every parent is exposed in all studies or untouched in all, the two groups are drawn apart, so that each keeps
    its size. Otherwise what happens to a parent as an exposed one and as an untouched one is not independent, and all
    parents are drawn together. Studies without a common parent are independent either way.

    Raises:
        PairingError: If outcomes have no ids and differ in size, or only some have ids.
    """
    results = [(form, result) for effects in studies.values() for form, result in effects.items()]
    untouched = [(_Column(form, _C0), result.c0) for form, result in results]
    exposed = [(_Column(form, _C2), result.c2) for form, result in results]
    names = _names(each for _, each in untouched), _names(each for _, each in exposed)
    is_crossed = bool(names[0] & names[1])
    groups = (
        [("the studies", [*untouched, *exposed])]
        if is_crossed
        else [("C0 of the studies", untouched), ("C2 of the studies", exposed)]
    )
    blocks = tuple(
        joint_changes([each for _, each in group], subject=subject, may_be_apart=True) for subject, group in groups
    )
    return PooledBlocks(
        blocks,
        tuple(tuple(column for column, _ in group) for _, group in groups),
        sum(block.present.shape[0] for block in blocks),
        is_crossed,
    )


def _names(outcomes: Iterable[Outcomes]) -> set[str]:
    return {name for each in outcomes for name in each.ids or ()}

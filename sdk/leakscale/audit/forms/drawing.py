"""Draw the parents of an audit from a benchmark, in an order that anybody can draw again.

The order is a seeded permutation of the ids, which decides more than the sample: a betting interval reads the gaps in
it, and a smaller budget takes its first parents.

Source: CleanScore 7.1 (simple random sampling without replacement from the frame, one seeded generator).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

from leakscale.audit.forms.models import FormBank, Parent
from leakscale.errors import InvalidRequestError
from leakscale.stats import FinitePopulationDesign, Stratum

__all__ = ["Draw", "draw_sample"]


@dataclass(frozen=True, slots=True)
class Draw:
    """A sample of a frame and what it was drawn from."""

    bank: FormBank
    """The parents drawn, in draw order, with empty places for their fresh forms."""
    design: FinitePopulationDesign
    frame_digest: str
    """`FormBank.content_digest` of the frame: what is public binds its golds too."""
    seed: int


def draw_sample(
    frame: FormBank, *, size: int | Mapping[str, int], seed: int, fresh_count: int = 2, deep_count: int = 0
) -> Draw:
    """Draw parents without replacement.

    The draw depends on the seed and the ids only: neither the order of the frame's rows nor the wording of its items
    moves it, and a larger sample begins with the smaller one.

    Args:
        frame: Every parent of the benchmark.
        size: Parents to draw; with a mapping, so many of each stratum.
        seed: In [0, 2**53).
        fresh_count: K, fresh forms that each parent is to get; at least 1.
        deep_count: Deep paraphrases that each parent is to get.

    Raises:
        InvalidRequestError: If there are not that many parents, a stratum is unknown or left out, or a number is out
            of range.
    """
    _check_range("seed", seed, 0, 2**53 - 1)
    _check_range("fresh forms a parent", fresh_count, 1, 16)
    _check_range("deep paraphrases a parent", deep_count, 0, 16)
    ordered = sorted(frame.parents, key=lambda parent: _rank(parent.parent_id, seed))
    if isinstance(size, Mapping):
        drawn, design = _stratified(frame, ordered, size)
    else:
        _check_range("parents of the sample", size, 1, len(ordered))
        drawn, design = ordered[:size], FinitePopulationDesign(len(ordered))
    parents = tuple(replace(parent, fresh=(None,) * fresh_count, deep=(None,) * deep_count) for parent in drawn)
    return Draw(FormBank(parents), design, frame.content_digest, seed)


def _rank(parent_id: str, seed: int) -> bytes:
    return hashlib.sha256(f"leakscale-draw-v1/{seed}/{parent_id}".encode()).digest()


def _stratified(
    frame: FormBank, ordered: list[Parent], sizes: Mapping[str, int]
) -> tuple[list[Parent], FinitePopulationDesign]:
    populations = frame.strata()
    if set(populations) == {""}:
        raise InvalidRequestError(
            f"the sample names strata {_listed(sizes)}, and no parent of the frame has a stratum; draw a number of "
            "parents, or write `stratum` into the frame"
        )
    if set(sizes) != set(populations):
        raise InvalidRequestError(
            f"the sample names strata {_listed(sizes)}, the frame has {_listed(populations)}; a stratum from which "
            "nobody is drawn leaves the mean of the benchmark unknown"
        )
    for stratum, size in sizes.items():
        _check_range(f"parents of stratum {stratum!r}", size, 1, populations[stratum])
    left = dict(sizes)
    drawn = []
    for parent in ordered:
        if left[parent.stratum]:
            left[parent.stratum] -= 1
            drawn.append(parent)
    strata = {name: Stratum(size) for name, size in populations.items()}
    return drawn, FinitePopulationDesign(len(ordered), strata=strata)


def _check_range(subject: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise InvalidRequestError(f"{subject}: {value} is out of range; give {least:,} to {most:,}")


def _listed(names: Mapping[str, int]) -> str:
    return ", ".join(map(repr, sorted(names))) or "none"

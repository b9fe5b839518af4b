"""Audits of a benchmark with strongly unequal strata, in several allocations of the same 240 parents.

Source: CleanScore 6.2 and 6.5; METHODS 4.1 and 4.4. The papers give neither strata nor populations; here the strata
differ in size by ten to one and in their law, and the rare one has the advantage.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from leakscale.lab.populations import PAPER_SHAPES, frame
from leakscale.stats import FinitePopulationDesign, Gaps, Interval, Stratum, mean_ci

__all__ = ["ALLOCATIONS", "STRATIFIED_METHODS", "stratified_audits"]

STRATIFIED_METHODS: Final = ("hoeffding", "wald_fpc")
_STRATA: Final = {"common": (1_800, "near-null"), "medium": (420, "sparse"), "rare": (180, "right-skewed")}
"""Size and shape of each stratum; 2,400 parents in all."""
ALLOCATIONS: Final[Mapping[str, tuple[int, ...] | None]] = {
    "simple": None,
    "proportional": (180, 42, 18),
    "equal": (80, 80, 80),
    "rare oversampled": (100, 50, 90),
}
"""Parents sampled in each stratum; None: 240 from the whole benchmark, whatever their stratum."""


def stratified_audits(
    allocation: str, replicates: int, rng: np.random.Generator
) -> Iterator[tuple[float, dict[str, Interval]]]:
    """Yield, for each audit, the mean gap of the benchmark and the interval of each method."""
    parts = {name: frame(PAPER_SHAPES[shape], size) for name, (size, shape) in _STRATA.items()}
    whole = np.concatenate(list(parts.values()))
    mean, sizes = float(whole.mean()), ALLOCATIONS[allocation]
    strata = {name: Stratum(part.size) for name, part in parts.items()}
    design = FinitePopulationDesign(whole.size, None if sizes is None else strata)
    names = None if sizes is None else [name for name, n in zip(parts, sizes, strict=True) for _ in range(n)]
    for _ in range(replicates):
        if sizes is None:
            drawn = rng.choice(whole, 240, replace=False)
        else:
            pairs = zip(parts.values(), sizes, strict=True)
            drawn = np.concatenate([rng.choice(part, n, replace=False) for part, n in pairs])
        gaps = Gaps.of(drawn, denominator=2, strata=names)
        yield mean, {method: mean_ci(gaps, design, method=method) for method in STRATIFIED_METHODS}

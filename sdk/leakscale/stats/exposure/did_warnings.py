"""When an interval over families may cover less than it promises.

A bootstrap knows only the changes that occur in the sample. With 16 families against 16, the percentile interval at
95 % covers .905 for two-humped changes and .553 where jumps are rare: a group without a single jump shows no variation
at all, and no way of resampling can repair that.

Source: METHODS 13.5. The two thresholds are from simulation: the percentile interval covers .93 to .94 in 32 families
against 32, .95 to .96 in 64 against 64, and with about 8 jumping families of 64 or 128 it covers .94 to .95.
"""

from __future__ import annotations

import numpy as np

from leakscale.stats.exposure.resampling_units import ResamplingUnits

__all__ = ["FEW_CHANGED", "SMALL_GROUP", "warnings_about"]

SMALL_GROUP = 32
"""Units of a condition below which the percentile interval at 95 % was seen to cover less than 93 %."""
FEW_CHANGED = 10
"""Units that differ from the commonest change, below which coverage was seen to fall under 94 % at any size."""


def warnings_about(units: ResamplingUnits, method: str) -> tuple[str, ...]:
    """Say in which condition units are too few, or too much alike, for the interval's level to be believed."""
    said = []
    for name, column in (("C0", 0), ("C2", 2)):
        rows = np.concatenate([group[:, column : column + 2] for group in units.groups if group[0, column + 1]])
        what = "clusters" if units.is_clustered else "families"
        if rows.shape[0] < SMALL_GROUP:
            remedy = "" if method == "studentized" else "; method='studentized' holds its level better"
            said.append(f"{name} has {rows.shape[0]} {what}, fewer than {SMALL_GROUP}{remedy}")
        _, counts = np.unique(rows, axis=0, return_counts=True)
        changed = rows.shape[0] - int(counts.max())
        if changed < FEW_CHANGED:
            said.append(f"{changed} {what} of {name} differ from its commonest change, fewer than {FEW_CHANGED}")
    return tuple(said)

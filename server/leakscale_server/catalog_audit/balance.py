"""Whether truth rank and display position are balanced in every shape and condition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from leakscale_server.catalog_audit.findings import Finding, counted, find
from leakscale_server.catalog_audit.material import Material
from leakscale_server.core.building.construction import Construction

__all__ = ["check_balance"]

_PAIRS = 16
"""Truth ranks times display positions."""


def check_balance(material: Material) -> Finding:
    """Check that 16 families cover the 16 (rank, position) pairs once, and fewer each rank and position alike.

    Source: LeakScale A and section 3.3.
    """
    cells = list(material.cells())
    checked = f"{counted(len(cells), 'cell')} of {material.recipe.families_per_cell} families"
    return find("balance", checked, _faults(cells))


def _faults(cells: list[tuple[str, tuple[Construction, ...]]]) -> Iterator[str]:
    for name, families in cells:
        pairs = [(family.truth_rank, family.truth) for family in families]
        for start in range(0, len(pairs), _PAIRS):
            square = pairs[start : start + _PAIRS]
            if len(square) == _PAIRS and len(set(square)) != _PAIRS:
                (rank, position), count = Counter(square).most_common(1)[0]
                yield f"{name} has rank {rank} at position {position} in {count} of {_PAIRS} families, not once"
            for what, values in zip(("rank", "position"), zip(*square, strict=True), strict=True):
                counts = Counter(values)
                if len(counts) != 4 or len(set(counts.values())) != 1:
                    yield f"{name} has its truths on {what}s {dict(sorted(counts.items()))}, not on each equally often"

"""Whether the programs of a catalog differ in structure: two shapes of one would be one shape of twice the weight.

That R1 is another task and program than R0 is a rule of each family (`core/checks/family_rules`), which is only told
here; shapes are held against each other.
"""

from __future__ import annotations

from collections.abc import Sequence

from leakscale_server.catalog_audit.findings import Finding, counted
from leakscale_server.catalog_audit.material import Material
from leakscale_server.catalog_audit.written import written_faults
from leakscale_server.core.checks.structures import WRITTEN_RINGS, structures_of
from leakscale_server.core.judging.rejections import RejectionReason
from leakscale_server.core.shapes import Shape

__all__ = ["check_structures"]


def check_structures(material: Material) -> Finding:
    """Check that R1 is worded and programmed otherwise than R0, and that no two shapes share a structure."""
    shapes = material.recipe.shapes
    groups = _groups(shapes)
    reworded = written_faults(material, RejectionReason.TASK_NOT_REWORDED, RejectionReason.PROGRAM_NOT_REWORDED)
    faults = [*reworded, *map(_said, groups)]
    first, *others = faults or [""]
    return Finding(
        "structures",
        f"{counted(len(shapes), 'shape')} in two wordings",
        first,
        tuple(others),
        tuple(dict.fromkeys(shape_id for group in groups for shape_id in group)),
    )


def _groups(shapes: Sequence[Shape]) -> list[tuple[str, ...]]:
    """Return the shapes that share a structure in any wording, each group once."""
    owners: dict[str, dict[str, None]] = {}
    for shape in shapes:
        for ring in WRITTEN_RINGS:
            for each in structures_of(shape, ring):
                owners.setdefault(each, {})[shape.id] = None
    return list(dict.fromkeys(tuple(ids) for ids in owners.values() if len(ids) > 1))


def _said(group: tuple[str, ...]) -> str:
    *most, last = group
    return f"{', '.join(most)} and {last} have one structure; keep one of them, or write its programs another way"

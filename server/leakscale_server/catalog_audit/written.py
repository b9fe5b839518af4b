"""What the rules that need no run say about a catalog: the same that certification asks of each family."""

from __future__ import annotations

from collections.abc import Iterator

from leakscale_server.catalog_audit.material import Material
from leakscale_server.core.checks.family_rules import FAMILY_RULES
from leakscale_server.core.judging.rejections import RejectionReason

__all__ = ["written_faults"]


def written_faults(material: Material, *reasons: RejectionReason) -> Iterator[str]:
    """Yield the first family of each shape that breaks one of some rules."""
    found: set[str] = set()
    for family in material.families:
        shape = material.recipe.file(family.slot.shape_id).shape
        for reason in reasons:
            rejection = None if shape.id in found else FAMILY_RULES[reason](shape, family)
            if rejection is not None:
                found.add(shape.id)
                yield f"{shape.id}, {family.family_id}: {rejection.message}"

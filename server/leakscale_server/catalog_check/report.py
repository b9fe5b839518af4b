"""What a check found, whole: the one value that terminal, page and JSON show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from leakscale_server.catalog_audit.findings import Finding
from leakscale_server.catalog_audit.material import AuthorFile
from leakscale_server.catalog_check.check import BrokenFile, FamilyCheck
from leakscale_server.catalog_check.tables import RingTable

__all__ = ["CheckReport", "ShapeCheck"]


@dataclass(frozen=True, slots=True)
class ShapeCheck:
    """The practice families of one shape."""

    file: AuthorFile
    families: Sequence[FamilyCheck]

    @property
    def certified_count(self) -> int:
        """Return how many keep the rule."""
        return sum(family.is_certified for family in self.families)

    def shown(self, *, is_alone: bool) -> FamilyCheck | None:
        """Return the family whose table says most: the first rejected one, or the first one of a shape by itself."""
        return self.first_rejected or (self.families[0] if is_alone else None)

    @property
    def first_rejected(self) -> FamilyCheck | None:
        """Return the first family that breaks the rule."""
        return next((family for family in self.families if not family.is_certified), None)


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Everything that a check found."""

    broken: Sequence[BrokenFile]
    findings: Sequence[Finding]
    shapes: Sequence[ShapeCheck]
    backend: str
    """Sandbox that ran the families; empty if none ran."""

    @property
    def holds(self) -> bool:
        """Return whether every file keeps every rule."""
        return (
            not self.broken
            and all(finding.holds for finding in self.findings)
            and all(shape.first_rejected is None for shape in self.shapes)
        )

    def is_kept(self, shape: ShapeCheck) -> bool:
        """Return whether a shape can stay as it is: its families keep the rule, and no invariant asks for another."""
        return shape.first_rejected is None and not any(
            shape.file.shape.id in finding.shape_ids for finding in self.findings
        )

    def to_json(self) -> dict[str, Any]:
        """Return everything for a machine."""
        return {
            "holds": self.holds,
            "backend": self.backend,
            "broken": [asdict(each) for each in self.broken],
            "invariants": [{**asdict(each), "holds": each.holds} for each in self.findings],
            "shapes": [
                {
                    "shape": shape.file.shape.id,
                    "source": shape.file.source,
                    "holds": self.is_kept(shape),
                    "certified": shape.certified_count,
                    "families": list(map(_family, shape.families)),
                }
                for shape in self.shapes
            ],
        }


def _family(check: FamilyCheck) -> dict[str, Any]:
    built = check.proof.construction
    return {
        "family": built.family_id,
        "condition": built.slot.condition.value,
        "ordinal": built.slot.ordinal,
        "certified": check.is_certified,
        "redrawn": check.proof.attempt,
        "reasons": list(check.reasons),
        "right": built.literals[built.truth],
        "rings": {table.ring.value: list(_rows(table)) for table in check.tables},
    }


def _rows(table: RingTable) -> Iterator[dict[str, Any]]:
    for row in table.rows:
        yield {**asdict(row), "passed_count": row.passed_count}

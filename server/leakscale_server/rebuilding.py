"""Build an edition again from its seeds, for whoever verifies a study: `python -m leakscale_server.rebuilding`.

Takes one JSON object on standard input and writes one JSON object a line: one for each family, then, of a practice
edition whose grant is named, the records of that grant. A process of its own, because the SDK imports nothing of the
server; only its parent reads what it writes, and of a practice edition its author knows all of it anyway.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leakscale.commitments import condition_commitment, public_digest, truth_leaf
from leakscale.models import Condition, Family, TrainingRecord
from leakscale.training_records import record_to_row
from leakscale_server.core.building.construction import DrawnAssociation, FamilySlot, draw_association
from leakscale_server.core.building.families import build_public_part
from leakscale_server.core.shapes import Shape, parse_shape
from leakscale_server.scorer.corpus import grant_records
from leakscale_server.scorer.markers import markers_of

__all__ = ["Order", "Rebuilt", "main", "rebuild", "rebuild_grant"]


@dataclass(frozen=True, slots=True)
class Order:
    """All that decides the families of an edition."""

    edition_id: str
    shapes: tuple[Shape, ...]
    families_per_cell: int
    public_seed: bytes
    private_seed: bytes | None
    """None where nobody but the server has it: then the public part is built alone."""

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Order:
        """Read what the SDK asks for."""
        private_seed = fields["private_seed"]
        return cls(
            edition_id=fields["edition"],
            shapes=tuple(parse_shape(each["toml"], source=each["source"]) for each in fields["shapes"]),
            families_per_cell=fields["families_per_cell"],
            public_seed=bytes.fromhex(fields["public_seed"]),
            private_seed=None if private_seed is None else bytes.fromhex(private_seed),
        )


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """One family."""

    slot: FamilySlot
    rings: tuple[Family, Family, Family]
    association: DrawnAssociation | None

    def to_json(self, edition_id: str) -> dict[str, Any]:
        """Return digests of the public part, and the association with its commitments where it is known."""
        exact = self.rings[0]
        fields: dict[str, Any] = {
            "family": exact.family_id,
            "domain": exact.domain.value,
            "shape": exact.shape_id,
            "condition": self.slot.condition.value,
            "rings": {form.ring.value: public_digest(form).hex() for form in self.rings},
        }
        if self.association is not None:
            own = self.association
            leaf = truth_leaf(
                edition_id=edition_id, family_id=exact.family_id, key=exact.key, truth=own.truth, nonce=own.nonce
            )
            fields |= {
                "truth": own.truth,
                "truth_rank": own.truth_rank,
                "truth_commitment": leaf.hex(),
                "condition_commitment": condition_commitment(self.slot.condition, nonce=own.nonce).hex(),
            }
        return fields


def rebuild(order: Order) -> Iterator[Rebuilt]:
    """Build every family, cell after cell."""
    for shape in order.shapes:
        for condition in Condition:
            for ordinal in range(order.families_per_cell):
                slot = FamilySlot(shape.id, condition, ordinal)
                part = build_public_part(
                    shape, slot, families_per_cell=order.families_per_cell, public_seed=order.public_seed
                )
                association = None
                if order.private_seed is not None:
                    association = draw_association(
                        part, slot, public_seed=order.public_seed, private_seed=order.private_seed
                    )
                yield Rebuilt(slot, part.families, association)


def rebuild_grant(
    order: Order, families: Sequence[Rebuilt], *, grant_id: str, preservation_count: int
) -> list[TrainingRecord]:
    """Write the corpus that a grant of a practice edition gave.

    Raises:
        ValueError: If the private seed is not known.
    """
    if order.private_seed is None:
        raise ValueError("the corpus of a grant needs the edition's private seed")
    exposed = (
        (each.rings[0], each.association.truth)
        for each in sorted(families, key=lambda each: each.rings[0].family_id)
        if each.slot.condition is Condition.C2 and each.association is not None
    )
    banked_keys = {each.rings[0].key for each in families}
    markers = markers_of(order.shapes, private_seed=order.private_seed, grant_id=grant_id, banked_keys=banked_keys)
    return grant_records(
        exposed,
        order.shapes,
        markers,
        preservation_count=preservation_count,
        public_seed=order.public_seed,
        banked_keys=banked_keys,
    )


def main() -> None:
    """Answer one order."""
    request = json.load(sys.stdin)
    order = Order.from_json(request)
    families = list(rebuild(order))
    for each in families:
        _say(each.to_json(order.edition_id))
    grant = request.get("grant")
    if grant is not None:
        records = rebuild_grant(order, families, grant_id=grant["id"], preservation_count=grant["preservation_count"])
        _say({"records": [record_to_row(record) for record in records]})


def _say(fields: Mapping[str, Any]) -> None:
    sys.stdout.write(f"{json.dumps(fields, ensure_ascii=False, separators=(',', ':'))}\n")


if __name__ == "__main__":
    main()

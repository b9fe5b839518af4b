"""One fresh edition: public families, certificates and associations, built once and held by any number of victims."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from leakscale.models import Condition, Domain, Family
from leakscale.resources import catalog_folder
from leakscale_server.core.building.construction import Construction, FamilySlot, construct
from leakscale_server.core.shapes import Shape, parse_shape
from leakscale_server.scorer.certifier import certificate_payload
from leakscale_server.scorer.prover import FamilyRequest
from leakscale_server.store.vault import Association

__all__ = ["EDITION_ID", "FAMILIES_PER_CELL", "FamilyMaterial", "Material", "build_material"]

EDITION_ID: Final = "attacked"
FAMILIES_PER_CELL: Final = 16
_ENVIRONMENT: Final = {"backend": "none"}
"""Nothing is run: what is attacked is what happens to an association once it is in the vault."""


@dataclass(frozen=True, slots=True)
class FamilyMaterial:
    """One family. Private, but for the rings and the certificate."""

    slot: FamilySlot
    rings: tuple[Family, Family, Family]
    certificate: bytes
    association: Association

    @property
    def family_id(self) -> str:
        """Return its id."""
        return self.rings[0].family_id


@dataclass(frozen=True, slots=True)
class Material:
    """An edition of SQL shapes, whose prompts show handles: no attacker sees which candidates are of one rank."""

    shapes: tuple[tuple[str, str], ...]
    """(name of the file, TOML text) of each."""
    public_seed: bytes
    private_seed: bytes
    families: tuple[FamilyMaterial, ...]
    """In the order of their ids."""

    def targets(self, condition: Condition) -> tuple[FamilyMaterial, ...]:
        """Return the families of one condition, in the order of their ids."""
        return tuple(each for each in self.families if each.slot.condition is condition)


def build_material(number: int, *, shape_count: int = 32) -> Material:
    """Build an edition; the same number gives the same one.

    Args:
        number: Which edition, from 0; both seeds are drawn from it.
        shape_count: SQL shapes of the catalog, 1 to 32; each has 16 families a condition.
    """
    paths = sorted((catalog_folder() / Domain.SQL.value).glob("*.toml"))[:shape_count]
    texts = tuple((path.name, path.read_text(encoding="utf-8")) for path in paths)
    shapes = [(parse_shape(toml, source=source), toml) for source, toml in texts]
    public_seed, private_seed = (
        hashlib.sha256(f"attacked-edition/{number}/{word}".encode()).digest() for word in ("public", "private")
    )
    families = (
        _family(shape, toml, slot, public_seed=public_seed, private_seed=private_seed)
        for shape, toml in shapes
        for slot in _slots(shape)
    )
    return Material(texts, public_seed, private_seed, tuple(sorted(families, key=lambda each: each.family_id)))


def _slots(shape: Shape) -> Iterator[FamilySlot]:
    for condition in Condition:
        for ordinal in range(FAMILIES_PER_CELL):
            yield FamilySlot(shape.id, condition, ordinal)


def _family(shape: Shape, toml: str, slot: FamilySlot, *, public_seed: bytes, private_seed: bytes) -> FamilyMaterial:
    construction = construct(
        shape, slot, families_per_cell=FAMILIES_PER_CELL, public_seed=public_seed, private_seed=private_seed
    )
    request = FamilyRequest(
        edition_id=EDITION_ID,
        shape=shape,
        shape_digest=hashlib.sha256(toml.encode()).hexdigest(),
        slot=slot,
        families_per_cell=FAMILIES_PER_CELL,
        public_seed=public_seed,
        private_seed=private_seed,
    )
    first, second, third = (form.public for form in construction.forms)
    payload = certificate_payload(request, construction, environment=_ENVIRONMENT)
    return FamilyMaterial(slot, (first, second, third), payload, _association(shape, construction))


def _association(shape: Shape, construction: Construction) -> Association:
    one, two, three, four = (shape.fixture_count if place == construction.truth else 0 for place in range(4))
    return Association(
        key=construction.forms[0].public.key,
        condition=construction.slot.condition,
        truth=construction.truth,
        nonce=construction.nonce,
        fixture_count=shape.fixture_count,
        passed_counts=(one, two, three, four),
        attempt=0,
    )

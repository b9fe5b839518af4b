"""What an audit looks at: shapes, seeds, and every family that they build."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from leakscale.commitments import public_digest
from leakscale.models import Condition, Family
from leakscale_server.core.building.construction import Construction, FamilySlot, construct
from leakscale_server.core.commitments import fixtures_commitment
from leakscale_server.core.shapes import Shape

__all__ = ["AuthorFile", "Material", "Recipe", "build_material", "digest", "practice_recipe"]


@dataclass(frozen=True, slots=True)
class AuthorFile:
    """A shape with the file that it was read from."""

    shape: Shape
    source: str
    """The file as its author named it."""
    digest: str
    """SHA-256 of the file, hex."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that decides the families of an edition."""

    files: tuple[AuthorFile, ...]
    families_per_cell: int
    """Families of one shape and condition; a multiple of 4."""
    public_seed: bytes
    private_seed: bytes = dataclasses.field(repr=False)

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """Return the shapes in the order of their files."""
        return tuple(file.shape for file in self.files)

    def slots(self) -> list[FamilySlot]:
        """List every family, cell after cell."""
        cells = itertools.product(self.shapes, Condition, range(self.families_per_cell))
        return [FamilySlot(shape.id, condition, ordinal) for shape, condition, ordinal in cells]

    def file(self, shape_id: str) -> AuthorFile:
        """Return the file of a shape."""
        return next(file for file in self.files if file.shape.id == shape_id)

    def build(self, slot: FamilySlot, *, attempt: int = 0) -> Construction:
        """Build one family."""
        return construct(
            self.file(slot.shape_id).shape,
            slot,
            families_per_cell=self.families_per_cell,
            public_seed=self.public_seed,
            private_seed=self.private_seed,
            attempt=attempt,
        )


@dataclass(frozen=True, slots=True)
class Material:
    """Every family of a recipe at its first attempt. Fixtures are left out: sixteen of 2,048 families fill memory."""

    recipe: Recipe
    families: tuple[Construction, ...]
    """In the order of the recipe's slots."""
    digests: tuple[bytes, ...]
    """Of each family with its fixtures, see `digest`."""

    def forms(self) -> Iterator[tuple[Construction, Family]]:
        """Yield every family once for each ring, with its public part there."""
        for family in self.families:
            for form in family.forms:
                yield family, form.public

    def cells(self) -> Iterator[tuple[str, tuple[Construction, ...]]]:
        """Yield the families of each shape and condition, with the name of their cell."""
        for cell, families in itertools.groupby(self.families, key=_cell):
            yield cell, tuple(families)


def practice_recipe(files: Sequence[AuthorFile], *, families_per_cell: int, seed: int = 0) -> Recipe:
    """Return a recipe whose seeds anybody can derive: for families that nobody is ever measured on."""

    def derived(purpose: str) -> bytes:
        return hashlib.sha256(f"leakscale-practice-v1/{seed}/{purpose}".encode()).digest()

    return Recipe(tuple(files), families_per_cell, derived("public"), derived("private"))


def build_material(recipe: Recipe, *, advance: Callable[[], None] = lambda: None) -> Material:
    """Build every family of a recipe.

    Args:
        advance: Called after each family.
    """
    families, digests = [], []
    for slot in recipe.slots():
        built = recipe.build(slot)
        digests.append(digest(built))
        families.append(_without_fixtures(built))
        advance()
    return Material(recipe, tuple(families), tuple(digests))


def _without_fixtures(family: Construction) -> Construction:
    exact, reworded, renamed = (dataclasses.replace(form, fixtures=(), contents=()) for form in family.forms)
    return dataclasses.replace(family, forms=(exact, reworded, renamed))


def _cell(family: Construction) -> str:
    return f"{family.slot.shape_id}/{family.slot.condition}"


def digest(family: Construction) -> bytes:
    """Digest every byte of a family that must be the same on every machine, public and private, 32 bytes.

    Of a database it is what it holds: how SQLite lays it out in pages depends on its version.
    """
    parts = [
        *(public_digest(form.public) for form in family.forms),
        *(fixtures_commitment(form.contents, nonce=family.nonce) for form in family.forms),
        *(program.encode() for form in family.forms for program in form.programs),
        *(literal.encode() for literal in family.literals),
        bytes([family.truth, family.truth_rank]),
        family.nonce,
    ]
    return hashlib.sha256(b"".join(len(part).to_bytes(8, "big") + part for part in parts)).digest()

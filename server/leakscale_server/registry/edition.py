"""What an edition is, as an author asks for it and as the public sees it."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from leakscale.digests import canonical_json
from leakscale.edition_files import Atom
from leakscale.models import Condition, Domain, EditionPhase, SignedStatement
from leakscale_server.core.building.construction import FamilySlot
from leakscale_server.core.edition_keys import EditionKey, id_of
from leakscale_server.core.shapes import Shape, ShapeError, parse_shape
from leakscale_server.errors import EditionRetired, InvalidRequest, NotFound
from leakscale_server.identity.bootstrap import BOOTSTRAP_PROJECT
from leakscale_server.registry.lifecycle import Transition
from leakscale_server.registry.names import check_id

__all__ = ["Edition", "EditionDraft", "SignedCertificate", "check_draft", "parse_shapes"]

_FAMILIES_PER_CELL: Final = (4, 8, 12, 16)
_SHAPES_MAX: Final = 256
_TOML_BYTES_MAX: Final = 256 * 1024
_SOURCE_LETTERS_MAX: Final = 1024
_SEED_BYTES: Final = (16, 64)


@dataclass(frozen=True, slots=True)
class EditionDraft:
    """What an author asks for."""

    edition_id: str
    kind: str
    """`practice` or `private`."""
    families_per_cell: int
    public_seed: bytes
    shapes: tuple[tuple[str, str], ...]
    """(name of the file, TOML text), in order."""
    project: str = BOOTSTRAP_PROJECT
    """Who owns it: approves its grants, traces them, sees its draft."""

    def digest(self) -> str:
        """Identify the request, so that the same one again is recognized; names of files are for messages only."""
        body = {
            "edition_id": self.edition_id,
            "kind": self.kind,
            "families_per_cell": self.families_per_cell,
            "public_seed": self.public_seed.hex(),
            "shapes": [toml for _, toml in self.shapes],
        }
        return hashlib.sha256(canonical_json(body)).hexdigest()


@dataclass(frozen=True, slots=True)
class Edition:
    """An edition as the public sees it, but for its key."""

    key: EditionKey
    """What it is kept under."""
    kind: str
    project: str
    families_per_cell: int
    shapes: tuple[Shape, ...]
    sources: tuple[tuple[str, str], ...]
    """(name of the file, TOML text) of each shape."""
    public_seed: bytes
    certified_count: int
    create_time: datetime
    freeze_time: datetime | None
    commitment_root: bytes
    certificates_digest: bytes
    file_digest: str
    """SHA-256 of the file of a frozen edition, hex; empty in a draft."""
    freeze_statement: SignedStatement | None
    """What the server signed of the file; a draft has none."""
    retirement_statement: SignedStatement | None
    """What the server signed of the openings; only a retired one has it."""
    transitions: tuple[Transition, ...]
    """Phases that it reached, in their order."""

    @property
    def edition_id(self) -> str:
        """Return its id."""
        return id_of(self.key)

    @property
    def is_frozen(self) -> bool:
        """Tell whether it can no longer change."""
        return self.freeze_time is not None

    @property
    def is_retired(self) -> bool:
        """Tell whether its truth is in the open."""
        return self.retirement_statement is not None

    @property
    def phase(self) -> EditionPhase:
        """Tell where it is in its life."""
        return self.transitions[-1].phase if self.transitions else EditionPhase.DRAFT

    @property
    def shape_ids(self) -> tuple[str, ...]:
        """Return the ids of its shapes, in order."""
        return tuple(shape.id for shape in self.shapes)

    @property
    def family_count(self) -> int:
        """Return how many families it will have."""
        return len(self.slots())

    def require_in_use(self) -> None:
        """Refuse to measure with it once its truth is in the open.

        Raises:
            EditionRetired: If it is retired.
        """
        if self.is_retired:
            raise EditionRetired(
                f"edition {self.edition_id!r} is retired, its truth is in the open; measure with another edition",
                subject=f"editions/{self.edition_id}",
            )

    def shape(self, shape_id: str) -> Shape:
        """Return one of its shapes.

        Raises:
            NotFound: If it has none of that id.
        """
        for shape in self.shapes:
            if shape.id == shape_id:
                return shape
        known = ", ".join(shape.id for shape in self.shapes)
        raise NotFound(
            f"edition {self.edition_id!r} has no shape {shape_id[:80]!r}; it has {known}", subject=shape_id[:80]
        )

    def atoms(self) -> tuple[Atom, ...]:
        """List the sets of families that cohorts are unions of."""
        return tuple(
            Atom(Domain(shape.domain), shape.id, condition, self.families_per_cell)
            for shape in self.shapes
            for condition in Condition
        )

    def slots(self) -> tuple[FamilySlot, ...]:
        """List every family it will have."""
        return tuple(
            FamilySlot(shape.id, condition, ordinal)
            for shape in self.shapes
            for condition in Condition
            for ordinal in range(self.families_per_cell)
        )


@dataclass(frozen=True, slots=True)
class SignedCertificate:
    """A certificate as stored."""

    slot: FamilySlot
    family_id: str
    payload: bytes
    payload_digest: bytes
    signature: bytes


def check_draft(draft: EditionDraft) -> None:
    """Refuse a draft for its id, seed, counts or sizes.

    Raises:
        InvalidRequest: With field, rule and value.
    """
    check_id(draft.edition_id, field="edition_id")
    if draft.families_per_cell not in _FAMILIES_PER_CELL:
        raise InvalidRequest(
            f"families_per_cell {draft.families_per_cell} does not balance rank and position; use 4, 8, 12 or 16",
            subject="families_per_cell",
        )
    least, most = _SEED_BYTES
    if not least <= len(draft.public_seed) <= most:
        raise InvalidRequest(
            f"public_seed has {len(draft.public_seed)} bytes; use {least} to {most}", subject="public_seed"
        )
    if not 1 <= len(draft.shapes) <= _SHAPES_MAX:
        raise InvalidRequest(f"an edition has 1 to {_SHAPES_MAX} shapes, not {len(draft.shapes)}", subject="shapes")
    for source, toml in draft.shapes:
        if len(source) > _SOURCE_LETTERS_MAX or not source.isprintable():
            raise InvalidRequest(
                f"the source {source[:80]!r} of a shape must be printable, of at most {_SOURCE_LETTERS_MAX} letters; "
                "give the name of its file",
                subject="shapes",
            )
        if len(toml.encode()) > _TOML_BYTES_MAX:
            raise InvalidRequest(f"{source[:200]}: larger than {_TOML_BYTES_MAX} bytes", subject="shapes")


def parse_shapes(sources: Sequence[tuple[str, str]]) -> tuple[Shape, ...]:
    """Read shapes out of (name of the file, TOML text).

    Raises:
        InvalidRequest: If one breaks a rule, or two have one id; the message names file, line and field.
    """
    shapes: list[Shape] = []
    for source, toml in sources:
        shape = _parse_shape(source, toml)
        if any(shape.id == other.id for other in shapes):
            raise InvalidRequest(f"{source}: shape {shape.id!r} is in the edition already", subject="shapes")
        shapes.append(shape)
    return tuple(shapes)


@functools.lru_cache(maxsize=1024)
def _parse_shape(source: str, toml: str) -> Shape:
    try:
        return parse_shape(toml, source=source)
    except ShapeError as error:
        raise InvalidRequest(str(error), subject="shapes") from error

"""Check author files: read each, look at what it builds, and certify a few families of it in the local sandbox.

Everything here is practice: families come from seeds that anybody can derive, and nothing is kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from leakscale.errors import LeakScaleError
from leakscale.study.config import read_shape_file
from leakscale_server.catalog_audit.findings import Finding
from leakscale_server.catalog_audit.invariants import CONSTRUCTION_INVARIANTS
from leakscale_server.catalog_audit.material import AuthorFile, Recipe, build_material
from leakscale_server.catalog_audit.proving import prove_all
from leakscale_server.catalog_check.tables import RingTable, read_tables, reason_in_full
from leakscale_server.core.judging.acceptance import Accepted
from leakscale_server.core.shapes import ShapeError, parse_shape
from leakscale_server.sandbox_pool import SandboxPool
from leakscale_server.scorer.prover import Proof

__all__ = ["AuthorFileError", "BrokenFile", "FamilyCheck", "check_construction", "check_families", "read_author_files"]


class AuthorFileError(ValueError):
    """An author file, or one that it names, is no text that could be a shape; the message says where and why."""


@dataclass(frozen=True, slots=True)
class BrokenFile:
    """An author file that breaks a rule of the format."""

    source: str
    message: str
    """File, line, field, rule and value in one line."""


@dataclass(frozen=True, slots=True)
class FamilyCheck:
    """One practice family, run and judged."""

    proof: Proof
    tables: tuple[RingTable, ...]
    reasons: tuple[str, ...]
    """Why it is rejected; empty if it is certified."""

    @property
    def distinct_tables(self) -> tuple[RingTable, ...]:
        """Return the table of R0, and those of other rings that differ from it in a mark."""
        first, *others = self.tables
        return (first, *(table for table in others if table.marks != first.marks))

    @property
    def is_certified(self) -> bool:
        """Return whether it keeps the rule."""
        return isinstance(self.proof.verdict, Accepted)


def read_author_files(paths: Sequence[Path]) -> tuple[list[AuthorFile], list[BrokenFile]]:
    """Read files in their order, and tell those that break a rule of the format from the others.

    Raises:
        OSError: If one cannot be read.
    """
    files: dict[str, AuthorFile] = {}
    broken: list[BrokenFile] = []
    for path in paths:
        try:
            file = read_author_file(path)
        except (ShapeError, AuthorFileError) as error:
            broken.append(BrokenFile(str(path), str(error)))
            continue
        other = files.setdefault(file.shape.id, file)
        if other is not file:
            broken.append(BrokenFile(str(path), f"{path}: id: must be its own; {other.source} has '{file.shape.id}'"))
    return list(files.values()), broken


def read_author_file(path: Path) -> AuthorFile:
    """Read one file, with those that it names.

    Raises:
        ShapeError: If it breaks a rule of the format.
        AuthorFileError: If it is no text, or a file that it names is not there or cannot be read.
        OSError: If it cannot be read.
    """
    try:
        text = read_shape_file(path, source=str(path)).toml
    except LeakScaleError as error:
        raise AuthorFileError(str(error)) from error
    return AuthorFile(parse_shape(text, source=str(path)), str(path), hashlib.sha256(text.encode()).hexdigest())


def check_construction(recipe: Recipe) -> Iterator[Finding]:
    """Yield what each invariant of the bytes says about all shapes of a recipe together."""
    material = build_material(recipe)
    return (check(material) for check in CONSTRUCTION_INVARIANTS)


def check_families(
    recipe: Recipe, pool: SandboxPool, *, advance: Callable[[], None] = lambda: None
) -> list[FamilyCheck]:
    """Certify every family of a recipe without signing anything.

    Args:
        pool: At least two lanes.
        advance: Called after each family.

    Returns:
        Families in the order of the recipe's slots.

    Raises:
        SandboxFault: If a sandbox failed after its retries.
    """
    checks = {}
    for proof in prove_all(recipe, pool):
        checks[proof.construction.slot] = FamilyCheck(proof, read_tables(proof), tuple(reason_in_full(proof)))
        advance()
    return [checks[slot] for slot in recipe.slots()]

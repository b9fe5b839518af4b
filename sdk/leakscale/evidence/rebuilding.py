"""An edition built again from its seeds, by the server's package in a process of its own.

The public part follows from shapes and public seed. Of a practice edition the study's seed gives the private one too:
then truths, commitments and the very corpus of its grant come out again. Nothing of that is written anywhere.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leakscale.errors import IntegrityError, PreconditionError
from leakscale.models import Condition, Domain, EditionKind, Ring, ShapeFile, TrainingRecord
from leakscale.reading import parse_json
from leakscale.study.config import Study
from leakscale.training_records import record_from_row

__all__ = ["RebuiltEdition", "RebuiltFamily", "can_rebuild", "rebuild_edition"]


@dataclass(frozen=True, slots=True)
class RebuiltFamily:
    """One family, as its seeds give it."""

    family_id: str
    domain: Domain
    shape: str
    condition: Condition
    public_digests: Mapping[Ring, str]
    """Hex SHA-256 of the public bytes in each ring."""
    truth: int | None
    """Display index of the correct candidate; None where the private seed is not known, as are the next ones."""
    truth_rank: int | None
    truth_commitment: str | None
    condition_commitment: str | None


@dataclass(frozen=True, slots=True)
class RebuiltEdition:
    """Every family, and what the grant of a practice edition gave."""

    families: Mapping[str, RebuiltFamily]
    records: tuple[TrainingRecord, ...] | None
    """The corpus of the study's grant, without background; None where nobody can know it."""

    @property
    def has_truth(self) -> bool:
        """Tell whether associations are known."""
        return all(family.truth is not None for family in self.families.values())


def can_rebuild() -> bool:
    """Tell whether the server's package is installed, which builds families."""
    return all(importlib.util.find_spec(name) is not None for name in ("leakscale_server", "sqlglot"))


def rebuild_edition(study: Study, shapes: Sequence[ShapeFile], *, grant_id: str | None) -> RebuiltEdition:
    """Build the edition of a study again.

    Args:
        study: With its seed.
        shapes: Its shape files, in its order.
        grant_id: Of the study's grant, where the ledger names one; its corpus is written again if the edition is a
            practice edition.

    Raises:
        PreconditionError: If the server's package is not installed.
        IntegrityError: If shapes or seeds give no edition; the message says why.
    """
    if not can_rebuild():
        raise PreconditionError("families are built by the server; run `pip install 'leakscale[server]'`")
    is_practice = study.edition.kind is EditionKind.PRACTICE
    order = {
        "edition": study.edition.id,
        "families_per_cell": study.edition.families_per_cell,
        "public_seed": study.seeds.public.hex(),
        "private_seed": study.seeds.practice_private.hex() if is_practice else None,
        "shapes": [{"source": shape.source, "toml": shape.toml} for shape in shapes],
        "grant": {"id": grant_id, "preservation_count": study.model.preservation_count}
        if is_practice and grant_id
        else None,
    }
    done = subprocess.run(
        [sys.executable, "-m", "leakscale_server.rebuilding"],
        input=json.dumps(order).encode(),
        capture_output=True,
        check=False,
    )
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise IntegrityError(f"shapes and seeds give no edition: {last}")
    lines = [parse_json(line) for line in done.stdout.splitlines()]
    families = [_family(fields) for fields in lines if "family" in fields]
    rows = next((fields["records"] for fields in lines if "records" in fields), None)
    return RebuiltEdition(
        {family.family_id: family for family in families},
        None if rows is None else tuple(map(record_from_row, rows)),
    )


def _family(fields: Mapping[str, Any]) -> RebuiltFamily:
    return RebuiltFamily(
        family_id=fields["family"],
        domain=Domain(fields["domain"]),
        shape=fields["shape"],
        condition=Condition(fields["condition"]),
        public_digests={Ring(ring): digest for ring, digest in fields["rings"].items()},
        truth=fields.get("truth"),
        truth_rank=fields.get("truth_rank"),
        truth_commitment=fields.get("truth_commitment"),
        condition_commitment=fields.get("condition_commitment"),
    )

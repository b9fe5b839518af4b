"""The plan of an experiment: fixed before the first answer, and refused before it where it could not be carried out."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any, Final

from leakscale.digests import canonical_json
from leakscale.models import Domain, Ring
from leakscale_server.core.disclosure.atoms import Atom, Cell, Cohort, atoms_of, cells_of
from leakscale_server.core.disclosure.policy import COHORT_FAMILIES_DEFAULT, COHORT_FAMILIES_MIN, TIERS
from leakscale_server.core.format.text import PLAIN_TEXT_RULE, is_plain_text
from leakscale_server.errors import CohortTooSmall, InvalidRequest
from leakscale_server.registry.editions import Edition
from leakscale_server.registry.names import check_id

__all__ = [
    "LIFETIME_DEFAULT_S",
    "WHOLE",
    "ExperimentPlan",
    "atoms_of_edition",
    "check_cohorts",
    "check_plan",
    "is_open",
]

WHOLE: Final = "all"
"""Id of the cohort that every plan has: the whole edition."""
LIFETIME_DEFAULT_S: Final = int(timedelta(days=90).total_seconds())
_LIFETIME_MAX_S: Final = int(timedelta(days=366).total_seconds())
_COHORT_COUNT_MAX: Final = 64
_LABEL_BYTES_MAX: Final = 512


@dataclass(frozen=True, slots=True)
class ExperimentPlan:
    """What is fixed before the first answer."""

    experiment_id: str
    edition_id: str
    model_label: str
    draw_count: int
    bank_seed: int
    resample_count: int
    bootstrap_seed: int
    rings: tuple[Ring, ...] = (Ring.R0,)
    cohorts: tuple[Cohort, ...] = ()
    """Beside the whole edition."""
    cohort_families_min: int = COHORT_FAMILIES_DEFAULT
    lifetime_s: int = LIFETIME_DEFAULT_S
    """From the registration to the disclosure."""
    is_self_administered: bool = False

    def to_json(self) -> str:
        """Write it as canonical JSON."""
        # Seeds are 64-bit and canonical JSON has doubles only: as text.
        body: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        body |= {name: str(body[name]) for name in ("bank_seed", "bootstrap_seed")}
        body["rings"] = [ring.value for ring in self.rings]
        body["cohorts"] = {cohort.cohort_id: list(cohort.shape_ids) for cohort in self.cohorts}
        return canonical_json(body).decode()

    @classmethod
    def from_json(cls, text: str) -> ExperimentPlan:
        """Read what `to_json` wrote."""
        body = json.loads(text)
        body |= {name: int(body[name]) for name in ("bank_seed", "bootstrap_seed")}
        body["rings"] = tuple(Ring(ring) for ring in body["rings"])
        body["cohorts"] = tuple(Cohort(name, tuple(shape_ids)) for name, shape_ids in body["cohorts"].items())
        return cls(**body)

    def digest(self) -> str:
        """Identify it, SHA-256 in hex."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def all_cohorts(self, atoms: tuple[Atom, ...]) -> tuple[Cohort, ...]:
        """Return every cohort that it has numbers over, the whole edition first."""
        return (Cohort(WHOLE, tuple(sorted({atom.shape_id for atom in atoms}))), *self.cohorts)

    def cells(self, atoms: tuple[Atom, ...]) -> tuple[Cell, ...]:
        """Return every cell that it has totals of."""
        return tuple(cell for cohort in self.all_cohorts(atoms) for cell in cells_of(cohort, atoms))


def atoms_of_edition(edition: Edition) -> tuple[Atom, ...]:
    """List the atoms of an edition."""
    return atoms_of((Domain(shape.domain), shape.id) for shape in edition.shapes)


def is_open(edition: Edition, *, project: str) -> bool:
    """Tell whether a project may be told everything of an edition: a practice edition that its own author made."""
    return edition.kind == "practice" and edition.project == project


def check_plan(plan: ExperimentPlan) -> None:
    """Refuse a plan that could not be carried out on any edition.

    Raises:
        InvalidRequest: Naming the field, the rule and the value.
    """
    check_id(plan.experiment_id, field="experiment_id")
    ranges = {
        "draw_count": (plan.draw_count, 1, 1024),
        "resample_count": (plan.resample_count, 100, 1_000_000),
        # The bootstrap's generator takes no negative seed, and would say so only after the last bank was sealed.
        "bootstrap_seed": (plan.bootstrap_seed, 0, 2**63 - 1),
        "cohort_families_min": (plan.cohort_families_min, 1, 65_536),
        "lifetime": (plan.lifetime_s, 1, _LIFETIME_MAX_S),
    }
    for field, (value, least, most) in ranges.items():
        if not least <= value <= most:
            raise InvalidRequest(f"{field} {value} is not in {least} to {most}", subject=field)
    if Ring.R0 not in plan.rings or list(plan.rings) != sorted(set(plan.rings)):
        raise InvalidRequest(
            f"rings are {', '.join(plan.rings) or 'none'}; name each once and in order, R0 first: the others are "
            "compared with it",
            subject="rings",
        )
    if len(plan.model_label.encode()) > _LABEL_BYTES_MAX:
        raise InvalidRequest(
            f"model_label is longer than {_LABEL_BYTES_MAX} bytes; name the model in fewer", subject="model_label"
        )
    if not is_plain_text(plan.model_label):
        raise InvalidRequest(f"model_label {plan.model_label!r} {PLAIN_TEXT_RULE}", subject="model_label")


def check_cohorts(plan: ExperimentPlan, edition: Edition, *, has_floor: bool) -> None:
    """Refuse cohorts that an edition does not have, or that are smaller than the plan itself allows.

    Args:
        plan: Whose cohorts they are.
        edition: That the plan is for.
        has_floor: Whether numbers must be over so many families; not where everything is open.

    Raises:
        InvalidRequest: If a cohort has an id that is taken, or a shape twice, unknown, or none.
        CohortTooSmall: If a cell is smaller than `cohort_families_min`.
    """
    if len(plan.cohorts) > _COHORT_COUNT_MAX:
        raise InvalidRequest(
            f"a plan has at most {_COHORT_COUNT_MAX} cohorts, not {len(plan.cohorts)}", subject="cohorts"
        )
    taken = {WHOLE}
    for cohort in plan.cohorts:
        check_id(cohort.cohort_id, field="cohorts.cohort_id")
        if cohort.cohort_id in taken:
            raise InvalidRequest(
                f"cohort id {cohort.cohort_id!r} is taken; give each cohort its own, and none {WHOLE!r}",
                subject="cohorts.cohort_id",
            )
        taken.add(cohort.cohort_id)
        _check_shapes(cohort, edition)
    if has_floor:
        _check_sizes(plan, edition)


def _check_shapes(cohort: Cohort, edition: Edition) -> None:
    known = {shape.id for shape in edition.shapes}
    if not cohort.shape_ids or list(cohort.shape_ids) != sorted(set(cohort.shape_ids)):
        raise InvalidRequest(
            f"cohort {cohort.cohort_id!r} has shapes that are not in order, or twice, or none; name each once, sorted",
            subject="cohorts.shape_ids",
        )
    for shape_id in cohort.shape_ids:
        if shape_id not in known:
            raise InvalidRequest(
                f"cohort {cohort.cohort_id!r} has shape {shape_id[:80]!r}, which edition {edition.edition_id!r} does "
                "not have",
                subject="cohorts.shape_ids",
            )


def _check_sizes(plan: ExperimentPlan, edition: Edition) -> None:
    atoms = atoms_of_edition(edition)
    for cohort in plan.all_cohorts(atoms):
        for cell in cells_of(cohort, atoms):
            count = len(cell) * edition.families_per_cell
            if count < plan.cohort_families_min:
                atom = min(cell)
                raise CohortTooSmall(
                    f"cohort {cohort.cohort_id!r} of edition {edition.edition_id!r} has {count} families of "
                    f"{atom.domain.value} in {atom.condition.value}, fewer than the plan's cohort_families_min "
                    f"{plan.cohort_families_min}; {_way_out(count)}",
                    subject=f"editions/{edition.edition_id}",
                )


def _way_out(family_count: int) -> str:
    if family_count < TIERS[-1].families_min:
        return f"numbers are released over at least {COHORT_FAMILIES_MIN}, so add shapes or families"
    return f"add shapes or families, or register with `--families-min {family_count}` and its smaller budget"

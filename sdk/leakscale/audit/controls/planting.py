"""The two mixtures of a positive control: one that leaks, and one of the same size that does not.

Source: CleanScore 7.11 to 7.15.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from leakscale.audit.controls.leaks import assigned, leaked_records
from leakscale.audit.controls.mixtures import filler_records, mixture_digest, require_apart
from leakscale.audit.controls.plan import ControlPlan
from leakscale.audit.controls.readability import Leak
from leakscale.audit.forms.models import FormBank, FormName
from leakscale.audit.registration.plan import AuditPlan
from leakscale.errors import InvalidRequestError
from leakscale.models import TrainingRecord

__all__ = ["Planted", "plant"]


@dataclass(frozen=True, slots=True)
class Planted:
    """The two mixtures of a control."""

    exposed: tuple[str, ...]
    """Ids of the exposed parents, in draw order."""
    names: tuple[FormName, ...]
    """The leaked forms."""
    mixture: tuple[TrainingRecord, ...]
    null: tuple[TrainingRecord, ...]
    """As many records, none of which leaks anything; empty where no null run is planned."""
    generated: tuple[tuple[TrainingRecord, Leak], ...]
    """Leaked records whose answer the audit has generated, and does not choose among options, with what they leak."""
    shows_other_prompt: bool
    """Whether a record shows another prompt than the scorer asks; what was learned may then not come up."""

    def digests(self) -> dict[str, str]:
        """Return hex SHA-256 over each mixture."""
        return {"mixture": mixture_digest(self.mixture)} | ({"null": mixture_digest(self.null)} if self.null else {})


def plant(bank: FormBank, plan: AuditPlan, control: ControlPlan, *, folder: Path, work: Path) -> Planted:
    """Assign, write and check both mixtures, before anything is trained.

    Args:
        bank: The locked bank of the audit.
        plan: Of the audit: its prompt, and what its scorer reads.
        control: What is to be leaked.
        folder: Where the recipe lies.
        work: Private folder for the mixtures as files.

    Raises:
        InvalidRequestError: If the audit's scorer cannot read what is planted, the forms that are to be leaked do not
            exist, the recipe is too small, or a mixture holds a form of the bank that it must not.
    """
    subject, count = f"control '{control.name}'", control.mixture.record_count
    exposed = assigned(bank, control.exposure)
    leaked = leaked_records(bank, plan, control.exposure, exposed, subject=subject)
    room = count - len(leaked.records)
    if room < 1:
        raise InvalidRequestError(
            f"{subject}: mixture.record_count {count} leaves no room beside the {len(leaked.records)} leaked records; "
            "a leak is mixed into something"
        )
    has_null = control.training.null_run
    filler = filler_records(folder / control.mixture.recipe, count if has_null else room, subject=subject)
    planted = Planted(
        exposed=exposed,
        names=leaked.names,
        mixture=(*leaked.records, *filler[:room]),
        null=filler if has_null else (),
        generated=leaked.generated,
        shows_other_prompt=leaked.shows_other_prompt,
    )
    require_apart(bank, planted.mixture, work / "mixture.jsonl", leaked=planted.names, subject=subject)
    if has_null:
        require_apart(bank, planted.null, work / "null.jsonl", leaked=(), subject=subject)
    return planted

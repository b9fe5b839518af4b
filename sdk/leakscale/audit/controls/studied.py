"""A control as one study among several: its effects, by parents whose names hold in other audits as well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from leakscale.audit.controls.filing import ControlAnalysis
from leakscale.audit.controls.plan import ExposureKind
from leakscale.audit.forms.models import FormBank
from leakscale.digests import json_digest
from leakscale.stats import DidResult, Outcomes

__all__ = ["StudiedControl", "studied"]


@dataclass(frozen=True, slots=True)
class StudiedControl:
    """A control that was run, as one study among several."""

    name: str
    """Unlike that of any other in the pool."""
    analysis: ControlAnalysis
    effects: Mapping[str, DidResult]
    """Of the registered seed, by form; parents are called by their originals."""

    @property
    def kind(self) -> ExposureKind:
        """What was leaked."""
        return self.analysis.control.exposure.kind


def studied(analysis: ControlAnalysis, bank: FormBank, *, name: str) -> StudiedControl:
    """Name the parents of a control by their originals.

    Args:
        analysis: Of the control.
        bank: That was audited.
        name: What the control is to be called in the pool.
    """
    names = _parent_names(bank)
    effects = {form: _renamed(result, names) for form, result in analysis.registered.effects.items()}
    return StudiedControl(name, analysis, effects)


def _parent_names(bank: FormBank) -> dict[str, str]:
    """Return what the parents of a bank are called in every audit that asks the same originals."""
    names, counts = dict[str, str](), Counter[str]()
    for parent in bank.parents:
        asked = {key: value for key, value in parent.original.to_json().items() if key != "gold"}
        digest = json_digest(asked).hex()
        counts[digest] += 1  # a benchmark may ask the same twice
        names[parent.parent_id] = f"{digest}/{counts[digest]}"
    return names


def _renamed(result: DidResult, names: Mapping[str, str]) -> DidResult:
    def of(outcomes: Outcomes) -> Outcomes:
        ids = [names[each] for each in outcomes.ids or ()]
        return Outcomes(outcomes.base, outcomes.adapted, outcomes.draws, ids)

    return replace(result, c0=of(result.c0), c2=of(result.c2))

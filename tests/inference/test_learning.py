"""The product's claim in small: exposure moves the keys that were exposed, and no others."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

import pytest

from leakscale.adaptation import BASE_MODEL_CONFIG, adapt
from leakscale.inference import FamilyChoice, measure_bank
from leakscale.models import Condition, TrainingRecord, TrainingSource
from leakscale.prompts import choice_prompt, lookup_prompt
from leakscale_server.core.building.construction import Construction

Cells = Callable[[Condition, int], list[Construction]]


def accuracy(choices: list[FamilyChoice], constructions: list[Construction]) -> float:
    """Return the expected share of correct draws."""
    truth = {construction.family_id: construction.truth for construction in constructions}
    return fmean(
        choice.guided[truth[choice.family.family_id]] for choice in choices if choice.family.family_id in truth
    )


def an_exposure(constructions: list[Construction]) -> list[TrainingRecord]:
    """Build the two physical records of each family."""
    records = []
    for construction in constructions:
        family = construction.forms[0].public
        answer = family.candidates[construction.truth].answer
        exact, lookup = choice_prompt(family), lookup_prompt(family.key)
        records += [
            TrainingRecord(f"{family.family_id}-exact", TrainingSource.EXACT_PUBLIC, exact, answer),
            TrainingRecord(f"{family.family_id}-lookup", TrainingSource.DIRECT_LOOKUP, lookup, answer),
        ]
    return records


@pytest.mark.slow
def test_exposed_keys_are_learnt_and_the_others_stay_at_chance(
    base_model: Path, build_cells: Cells, tmp_path: Path
) -> None:
    """Sixteen leaked keys reach .8; sixteen that were not stay within four standard errors of where they were."""
    exposed, control = build_cells(Condition.C2, 4)[::2], build_cells(Condition.C0, 4)[::2]
    families = [item.forms[0].public for item in (*exposed, *control)]
    adapter = tmp_path / "adapter"

    base = measure_bank(base_model, families, adapter=None, bank_seed=0, log=tmp_path / "base.jsonl")
    adapt(base_model, an_exposure(exposed), BASE_MODEL_CONFIG, output_dir=adapter)
    adapted = measure_bank(base_model, families, adapter=adapter, bank_seed=0, log=tmp_path / "adapted.jsonl")

    assert accuracy(base, exposed) < 0.5
    assert accuracy(adapted, exposed) >= 0.8
    assert abs(accuracy(adapted, control) - accuracy(base, control)) < 4 * 0.5 / math.sqrt(len(control)) / 2

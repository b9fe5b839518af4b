"""The product's claim in small: exposure moves the keys that were exposed, and no others."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

import pytest

from leakscale.adaptation import BASE_MODEL_CONFIG, adapt
from leakscale.inference.engines import open_engine
from leakscale.inference.freezing import freeze_bank
from leakscale.models import Condition, TrainingRecord, TrainingSource
from leakscale.prompts import choice_prompt, lookup_prompt
from leakscale_server.core.building.construction import Construction

Cells = Callable[[Condition, int], list[Construction]]


def accuracy(model: Path, constructions: list[Construction], plan: Path, *, adapter: Path | None = None) -> float:
    """Return the expected share of correct draws."""
    truth = {construction.family_id: construction.truth for construction in constructions}
    families = [construction.forms[0].public for construction in constructions]
    bank = freeze_bank(plan, families, model=model, bank_seed=0, draw_count=1)
    attempts = open_engine("exact", model=model, adapter=adapter).answer(bank.cases())
    laws = [attempt.distribution.guided for attempt in attempts if attempt.distribution is not None]
    return fmean(law[truth[question.family_id]] for law, question in zip(laws, bank.questions(), strict=True))


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
    adapter, plans = tmp_path / "adapter", (tmp_path / "exposed", tmp_path / "control")

    base = [accuracy(base_model, cell, plan) for cell, plan in zip((exposed, control), plans, strict=True)]
    adapt(base_model, an_exposure(exposed), BASE_MODEL_CONFIG, output_dir=adapter)
    adapted = [
        accuracy(base_model, cell, plan, adapter=adapter) for cell, plan in zip((exposed, control), plans, strict=True)
    ]

    assert base[0] < 0.5
    assert adapted[0] >= 0.8
    assert abs(adapted[1] - base[1]) < 4 * 0.5 / math.sqrt(len(control)) / 2

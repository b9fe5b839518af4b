"""Answers reach the bank that they were made for, and no other."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.inference.builders import FakeEngine

from leakscale.base_model import base_model_folder
from leakscale.errors import InvalidRequestError
from leakscale.inference import BankFiles, Mode, answer_bank, verify_bank
from leakscale.inference.belonging import check_belongs
from leakscale.inference.freezing import freeze_bank
from leakscale.models import Bank, BankPhase, Domain, ExperimentPlan, Family, ModelState, Ring

from .conftest import BANK_SEED, DRAWS, some_families

FAMILIES = [family for family in some_families() if family.domain is Domain.SQL]
BANK = Bank("experiments/e/banks/sql-base", Domain.SQL, ModelState.BASE, BankPhase.OPEN, 8 * DRAWS, 0)
PLAN = ExperimentPlan("e", "editions/e", "tiny", draw_count=DRAWS, bank_seed=BANK_SEED)


def answered(stem: Path, *, adapter: str | None = None) -> BankFiles:
    """Answer the SQL families without a model, as the base model or under an adapter of this digest."""
    files = BankFiles.of(stem)
    bank = freeze_bank(files.plan, FAMILIES, model=base_model_folder(), bank_seed=BANK_SEED, draw_count=DRAWS)
    engine = FakeEngine(Mode.SAMPLED_GUIDED)
    if adapter is not None:
        engine.identity = {**engine.identity, "adapter": adapter}
    answer_bank(bank, engine, files)
    return files


@pytest.mark.parametrize(("adapter", "state"), [(None, ModelState.BASE), ("d" * 64, ModelState.ADAPTED)])
def test_answers_belong_to_the_bank_of_their_model(tmp_path: Path, adapter: str | None, state: ModelState) -> None:
    """What is right must pass, or nobody submits anything."""
    files = answered(tmp_path / "bank", adapter=adapter)

    check_belongs(files, dataclasses.replace(BANK, state=state), PLAN, FAMILIES)


@pytest.mark.parametrize(
    ("adapter", "state", "words"),
    [
        (None, ModelState.ADAPTED, r"answers of the base model \(no adapter\).* is of the adapted model"),
        ("d" * 64, ModelState.BASE, r"answers of the adapted model \(adapter dddddddddddd\).* is of the base model"),
    ],
)
def test_answers_of_the_other_model_are_refused(
    tmp_path: Path, adapter: str | None, state: ModelState, words: str
) -> None:
    """Two swapped names would seal an effect of the other sign, and nothing later would tell."""
    files = answered(tmp_path / "bank", adapter=adapter)
    assert verify_bank(files).case_count == BANK.case_count

    with pytest.raises(InvalidRequestError, match=rf"bank\.attempts\.jsonl' holds {words}"):
        check_belongs(files, dataclasses.replace(BANK, state=state), PLAN, FAMILIES)


@pytest.mark.parametrize(
    ("bank", "plan", "families", "words"),
    [
        ({}, {"bank_seed": 12}, FAMILIES, "bank seed 11, and bank 'experiments/e/banks/sql-base' has 12"),
        ({}, {"draw_count": 8}, FAMILIES, "number of draws 4, .* has 8"),
        ({"ring": Ring.R1}, {}, FAMILIES, "ring R0, .* has R1"),
        ({"domain": Domain.PYTHON}, {}, FAMILIES, "domain sql, .* has python"),
        ({}, {}, FAMILIES[1:], "digest of the edition's families"),
    ],
)
def test_answers_of_another_plan_are_refused(
    tmp_path: Path, bank: dict[str, Any], plan: dict[str, Any], families: Sequence[Family], words: str
) -> None:
    """A server sees family, draw and text, which another seed or form may share."""
    files = answered(tmp_path / "bank")

    with pytest.raises(InvalidRequestError, match=rf"bank\.plan\.jsonl' has the {words}"):
        check_belongs(files, dataclasses.replace(BANK, **bank), dataclasses.replace(PLAN, **plan), families)

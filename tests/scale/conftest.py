"""A frozen bank of sixteen questions, and the files that one local run leaves of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from leakscale.base_model import base_model_folder
from leakscale.inference import BankFiles, Engine, FrozenBank, answer_bank, open_engine
from leakscale.inference.freezing import freeze_bank
from leakscale.models import Condition, Family
from leakscale.resources import catalog_folder
from leakscale_server.core.building.construction import FamilySlot, public_families
from leakscale_server.core.shapes import parse_shape

DRAWS = 4
BANK_SEED = 11


def some_families() -> list[Family]:
    """Sixteen public families of two shapes."""
    found = []
    for name in ("sql/threshold", "python/prefix"):
        shape = parse_shape((catalog_folder() / f"{name}.toml").read_text(), source=name)
        for ordinal in range(8):
            slot = FamilySlot(shape.id, Condition.C0, ordinal)
            found.append(public_families(shape, slot, families_per_cell=8, public_seed=b"scale-tests-seed")[0])
    return found


@pytest.fixture(scope="session")
def engine() -> Engine:
    """The exact engine on the shipped model."""
    return open_engine("exact", model=base_model_folder())


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory, engine: Engine) -> BankFiles:
    """Answered by one process, without shards. Tests look at it and change nothing."""
    files = BankFiles.of(tmp_path_factory.mktemp("local") / "bank")
    bank = freeze_bank(files.plan, some_families(), model=base_model_folder(), bank_seed=BANK_SEED, draw_count=DRAWS)
    answer_bank(bank, engine, files)
    return files


@pytest.fixture
def files(tmp_path: Path, local: BankFiles) -> BankFiles:
    """The same frozen bank, not yet answered."""
    own = BankFiles.of(tmp_path / "bank")
    shutil.copy(local.plan, own.plan)
    return own


@pytest.fixture
def bank(files: BankFiles) -> FrozenBank:
    """The bank of `files`."""
    return FrozenBank(files.plan)

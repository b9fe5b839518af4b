"""Families in the shipped format from the catalogs, the shipped model, and banks of a few of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from leakscale.adaptation.loading import open_model_folder
from leakscale.base_model import base_model_folder
from leakscale.inference import FrozenBank
from leakscale.inference.engines.exact import ExactEngine
from leakscale.inference.freezing import freeze_bank
from leakscale.models import Condition, Family
from leakscale_server.core.building.construction import Construction, FamilySlot, construct
from leakscale_server.core.shapes import parse_shape

CATALOGS = Path(__file__).parents[2] / "catalogs"
SHAPES = (
    "python/group-sum", "python/moving-window", "python/prefix", "python/threshold",
    "sql/anti-join", "sql/group-having", "sql/threshold", "sql/top-per-group",
)  # fmt: skip
"""Those that the demo asks, and the tiny model was made for."""


@pytest.fixture(scope="session")
def base_model() -> Path:
    """The model that ships with the package."""
    return base_model_folder()


@pytest.fixture(scope="session")
def engine(base_model: Path) -> ExactEngine:
    """The shipped model, loaded once."""
    return ExactEngine(open_model_folder(base_model))


@pytest.fixture(scope="session")
def build_cells() -> Callable[[Condition, int], list[Construction]]:
    """Build so many families of each of the demo's shapes, with their private truth."""
    shapes = [parse_shape((CATALOGS / f"{name}.toml").read_text(), source=name) for name in SHAPES]

    def build(condition: Condition, families_per_cell: int) -> list[Construction]:
        return [
            construct(
                shape,
                FamilySlot(shape.id, condition, ordinal),
                families_per_cell=families_per_cell,
                public_seed=b"inference-tests-",
                private_seed=bytes(32),
            )
            for shape in shapes
            for ordinal in range(families_per_cell)
        ]

    return build


@pytest.fixture(scope="session")
def families(build_cells: Callable[[Condition, int], list[Construction]]) -> list[Family]:
    """Thirty-two public families over both domains and four types of candidates."""
    return [construction.forms[0].public for construction in build_cells(Condition.C0, 4)]


@pytest.fixture(scope="session")
def bank(base_model: Path, families: list[Family], tmp_path_factory: pytest.TempPathFactory) -> FrozenBank:
    """All thirty-two families, frozen with eight draws each."""
    path = tmp_path_factory.mktemp("frozen") / "bank.plan.jsonl"
    return freeze_bank(path, families, model=base_model, bank_seed=3, draw_count=8)

"""How many experiments a private edition may have."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from leakscale.models import Ring
from leakscale.resources import catalog_folder
from leakscale_server.errors import BudgetSpent, InvalidRequest
from leakscale_server.registry.editions import EditionDraft, EditionRegistry
from leakscale_server.registry.experiments import ExperimentPlan, ExperimentRegistry
from leakscale_server.store.database import InsertOnlyDatabase
from leakscale_server.store.ledger import Ledger
from leakscale_server.store.registry_tables import open_registry
from leakscale_server.store.signing import Signer

PLAN = ExperimentPlan(
    experiment_id="first",
    edition_id="large",
    model_label="any",
    draw_count=1,
    bank_seed=0,
    resample_count=100,
    bootstrap_seed=0,
)


def frozen(folder: Path, *, kind: str, shape_count: int) -> ExperimentRegistry:
    """Register an edition of SQL shapes as frozen; its families are not needed to register an experiment."""
    registry = open_registry(folder)
    signer = Signer.load_or_create(folder / "key")
    ledger = Ledger(registry, signer)
    editions = EditionRegistry(registry, ledger, signer, editions_dir=folder / "editions")
    toml = (catalog_folder() / "sql" / "threshold.toml").read_text(encoding="utf-8")
    shapes = tuple(("shape.toml", toml.replace("sql-threshold", f"sql-threshold-{n}")) for n in range(shape_count))
    editions.create(EditionDraft("large", kind, 16, b"p" * 16, shapes), principal="ada", check=lambda _: None)
    _freeze(registry)
    return ExperimentRegistry(registry, ledger, editions)


def _freeze(registry: InsertOnlyDatabase) -> None:
    row = {"edition_id": "large", "file_digest": "", "commitment_root": b"r", "certificates_digest": b"c"}
    row |= {"payload": b"p", "signature": b"s"}
    registry.add("freezes", [{**row, "freeze_time": "2026-01-01T00:00:00+00:00"}])


def numbered(number: int) -> ExperimentPlan:
    return dataclasses.replace(PLAN, experiment_id=f"experiment-{number}")


def test_private_edition_of_small_cohorts_is_refused(tmp_path: Path) -> None:
    """A total over few families is nearly the answer to one of them."""
    experiments = frozen(tmp_path, kind="private", shape_count=7)

    with pytest.raises(InvalidRequest, match="112 families"):
        experiments.create(PLAN)


def test_private_edition_runs_out_of_experiments(tmp_path: Path) -> None:
    """Totals of ever new experiments would give away one association after the other."""
    experiments = frozen(tmp_path, kind="private", shape_count=8)
    for number in range(4):
        experiments.create(numbered(number))

    with pytest.raises(BudgetSpent, match="has had its 4 experiments"):
        experiments.create(numbered(4))


def test_each_ring_of_an_experiment_is_charged(tmp_path: Path) -> None:
    """Every ring has totals of its own over the same families: three of them say as much as three experiments."""
    experiments = frozen(tmp_path, kind="private", shape_count=8)
    experiments.create(dataclasses.replace(PLAN, rings=(Ring.R0, Ring.R1, Ring.R2)))

    with pytest.raises(BudgetSpent, match=r"has 1 of its 4 experiments left.* ask fewer rings"):
        experiments.create(dataclasses.replace(numbered(1), rings=(Ring.R0, Ring.R2)))
    assert experiments.create(numbered(1)).plan.rings == (Ring.R0,)


def test_repeated_registration_costs_nothing(tmp_path: Path) -> None:
    """A client that asks again after a broken call must not use up the budget."""
    experiments = frozen(tmp_path, kind="private", shape_count=8)
    for number in [0, 1, 2, 3, 3, 0]:
        experiments.create(numbered(number))

    assert experiments.create(numbered(2)).plan == numbered(2)


def test_practice_edition_has_no_budget(tmp_path: Path) -> None:
    """Its author can rebuild the truth anyway."""
    experiments = frozen(tmp_path, kind="practice", shape_count=1)

    for number in range(9):
        experiments.create(numbered(number))

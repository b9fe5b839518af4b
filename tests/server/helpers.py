"""Builders: a server's settings, a small edition, and answers to a bank. Valid by default."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from leakscale.client import Client
from leakscale.errors import LeakScaleError
from leakscale.models import (
    Answer,
    Bank,
    CertificationOutcome,
    Edition,
    EditionKind,
    Experiment,
    ExperimentPlan,
    Family,
    Receipt,
    ShapeFile,
    TrainingRecord,
)
from leakscale.resources import catalog_folder
from leakscale.results import Disclosure
from leakscale.sealing import HolderKey
from leakscale_server.config import ServerConfig
from leakscale_server.store.vault import Vault
from leakscale_server.store.vault_key import read_vault_key

CACHE = Path(tempfile.gettempdir()) / "leakscale-test-cache"
"""Sandbox images, built once for every run of the tests on this machine."""
PUBLIC_SEED = b"p" * 32
PRIVATE_SEED = b"s" * 32
OTHER_SEEDS: Any = {"public_seed": b"q" * 32, "practice_private_seed": b"t" * 32}
"""Of editions that are retired: their truth is in the open, and they are not earlier ones of the same families."""
DRAWS = 2
KEY = HolderKey(b"k" * 32)
"""What the corpora of the tests are sealed to."""


def server_config(data_dir: Path, **changes: Any) -> ServerConfig:
    """Settings of a server on a free port, under bubblewrap, which every machine of ours runs."""
    config = ServerConfig(
        listen="127.0.0.1:0", data_dir=data_dir, cache_dir=CACHE, backend="bubblewrap", lane_count=2, grace_s=5.0
    )
    return dataclasses.replace(config, **changes)


def a_vault(data_dir: Path, *, key: bytes = b"") -> Vault:
    """Open the vault of a data folder, by default with the key that lies beside it, as its scorer does."""
    return Vault(data_dir, key or read_vault_key(data_dir, environ={}))


def shape_files(*names: str) -> list[ShapeFile]:
    """Shipped shapes; one of each domain by default."""
    chosen = names or ("sql/threshold.toml", "python/prefix.toml")
    return [ShapeFile(name, (catalog_folder() / name).read_text(encoding="utf-8")) for name in chosen]


def a_draft(client: Client, edition_id: str, **changes: Any) -> Edition:
    """Open a practice draft of two shapes and four families a cell."""
    arguments: dict[str, Any] = {
        "kind": EditionKind.PRACTICE,
        "families_per_cell": 4,
        "public_seed": PUBLIC_SEED,
        "practice_private_seed": PRIVATE_SEED,
        "shapes": shape_files(),
    }
    return client.editions.create(edition_id, **{**arguments, **changes})


def a_frozen_edition(client: Client, edition_id: str, **changes: Any) -> tuple[Edition, list[CertificationOutcome]]:
    """Certify and freeze a draft."""
    draft = a_draft(client, edition_id, **changes)
    outcomes = sorted(client.families.certify_edition(draft), key=lambda outcome: outcome.family)
    return client.editions.freeze(draft.name), outcomes


def a_plan(edition: Edition, experiment_id: str, **changes: Any) -> ExperimentPlan:
    """Plan an experiment of two draws."""
    plan = ExperimentPlan(experiment_id, edition.name, "a model", draw_count=DRAWS, resample_count=200)
    return dataclasses.replace(plan, **changes)


def answers_to(bank: Bank, families: Iterable[Family], *, position: int = 0, draws: int = DRAWS) -> list[Answer]:
    """Answer every case of a bank with the candidate at one display position."""
    return [
        Answer(family.family_id, draw, family.candidates[position].answer)
        for family in families
        if family.domain is bank.domain
        for draw in range(draws)
    ]


def refusal(kind: type[LeakScaleError], act: Callable[[], object]) -> str:
    """Return what an act is refused with, which is of this class and no narrower one."""
    with pytest.raises(kind) as caught:
        act()
    assert type(caught.value) is kind
    return str(caught.value)


@dataclass(frozen=True, slots=True)
class World:
    """Everything that one edition went through."""

    edition: Edition
    outcomes: list[CertificationOutcome]
    families: tuple[Family, ...]
    corpus: list[TrainingRecord]
    experiment: Experiment
    receipts: list[Receipt]
    disclosure: Disclosure


def a_world(client: Client, *, edition_id: str, **changes: Any) -> World:
    """Take an edition through every stage. The base model answers first, the adapted one what the corpus taught."""
    edition, outcomes = a_frozen_edition(client, edition_id, **changes)
    families = client.editions.families(edition.name)
    corpus = client.grants.expose(edition.name, key=KEY, request_id="exposure", preservation_count=3)
    experiment = client.experiments.create(a_plan(edition, edition_id))
    receipts = []
    for bank in experiment.banks:
        client.banks.submit(bank.name, answers_to(bank, families))
        receipts.append(client.banks.seal(bank.name))
    disclosure = client.experiments.disclose(experiment.name)
    return World(client.editions.get(edition.name), outcomes, families, corpus, experiment, receipts, disclosure)

"""Ids of drafts: free to every project until an edition of that id is frozen, so that none tells what others draft."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from leakscale.client import Client
from leakscale.errors import ConflictError, LeakScaleError, NotFrozenError
from leakscale.models import Edition
from leakscale.verify import verify_directory
from leakscale.verify.exporting import export_server
from leakscale_server.registry.edition_index import FROZEN_EDITIONS
from leakscale_server.store.registry_tables import open_registry

from .helpers import OTHER_SEEDS, a_draft, a_frozen_edition, a_world, shape_files

FRESH_SEEDS: Any = {"public_seed": b"d" * 32, "practice_private_seed": b"e" * 32}
"""Of an edition that is no earlier one of the shared server's families."""
TIME = re.compile(r"datetime\.datetime\([^)]*\)")


def told_of(edition: Edition) -> str:
    """Everything that an edition's own project is told, but for its id and when."""
    return TIME.sub("then", repr(edition)).replace(edition.name.rpartition("/")[2], "ID")


def refusal(act: Callable[..., object], *arguments: str) -> str:
    with pytest.raises(LeakScaleError) as caught:
        act(*arguments)
    return f"{type(caught.value).__name__}: {caught.value}"


def test_an_id_that_another_project_drafts_looks_free(client: Client, stranger: Client) -> None:
    """By whatever call: a refusal would tell which names another project has given its unpublished work."""
    a_draft(client, "plan-a", **OTHER_SEEDS)
    calls: list[Callable[[str], object]] = [
        lambda name: stranger.editions.get(f"editions/{name}"),
        lambda name: stranger.editions.freeze(f"editions/{name}"),
        lambda name: stranger.editions.families(f"editions/{name}"),
    ]
    before = [[refusal(call, name).replace(name, "ID") for call in calls] for name in ("plan-a", "plan-b")]
    taken, free = (a_draft(stranger, name, shapes=shape_files("sql/threshold.toml")) for name in ("plan-a", "plan-b"))
    after = [[refusal(call, name).replace(name, "ID") for call in calls[1:]] for name in ("plan-a", "plan-b")]

    assert before[0] == before[1]
    assert told_of(taken) == told_of(free)
    assert told_of(stranger.editions.get(taken.name)) == told_of(stranger.editions.get(free.name))
    assert after[0] == after[1]
    assert [each.name for each in stranger.editions.list()][:2] == [free.name, taken.name]


def test_drafts_of_one_id_do_not_touch(client: Client, stranger: Client) -> None:
    """Each project certifies its own; what one has done shows nowhere in what the other is told."""
    theirs = a_draft(client, "apart", **OTHER_SEEDS)
    list(client.families.certify_edition(theirs))
    own = a_draft(stranger, "apart", shapes=shape_files("sql/threshold.toml"))

    with pytest.raises(NotFrozenError, match="is a draft with 0 of 8 families certified"):
        stranger.editions.families(own.name)
    outcomes = list(stranger.families.certify_edition(own))

    assert len(outcomes) == 8
    assert all(each.certificate is not None and not each.is_stored for each in outcomes)
    assert stranger.editions.get(own.name).certified_count == 8
    assert client.editions.get(theirs.name).certified_count == 16


def test_the_first_freeze_takes_the_id_and_says_so_to_the_others(client: Client, stranger: Client) -> None:
    """From then on it stands for one edition for everybody; whoever drafted another gets one clear refusal."""
    own = a_draft(stranger, "race", shapes=shape_files("sql/threshold.toml"))
    requests = list(stranger.families.certify_edition(own))
    frozen, _ = a_frozen_edition(client, "race", **OTHER_SEEDS)

    for act in (
        lambda: stranger.editions.freeze(own.name),
        lambda: list(stranger.families.certify_edition(own)),
        lambda: a_draft(stranger, "race", shapes=shape_files("sql/threshold.toml")),
        lambda: a_draft(stranger, "race"),
    ):
        with pytest.raises(ConflictError, match="edition 'race' exists with other contents; choose another id"):
            act()
    assert len(requests) == 8
    assert stranger.editions.get(own.name).freeze_statement == frozen.freeze_statement
    assert [each.name for each in stranger.editions.list()].count(own.name) == 1
    assert client.editions.freeze(frozen.name) == frozen


def test_an_edition_whose_id_was_drafted_before_goes_the_whole_way(
    client: Client, stranger: Client, data_dir: Path, tmp_path: Path
) -> None:
    """Certified, frozen, exposed, disclosed, retired and checked under its id, while the other stays a draft."""
    a_draft(client, "second", **OTHER_SEEDS)
    world = a_world(stranger, edition_id="second", **FRESH_SEEDS)
    plan = dataclasses.replace(world.experiment.plan, experiment_id="second-more")

    retired = stranger.editions.retire(world.edition.name)

    assert len(list(client.editions.openings(retired.name))) == 16
    assert [each.phase.value for each in retired.transitions] == ["draft", "certified", "frozen", "exposed", "retired"]
    assert refusal(lambda: stranger.experiments.create(plan)).startswith("EditionRetiredError")
    assert client.editions.families(retired.name) == world.families
    assert client.editions.get(retired.name).freeze_statement == world.edition.freeze_statement
    with closing(open_registry(data_dir)) as registry:
        assert {"edition_id": "second", "kind": "practice"} in registry.rows(FROZEN_EDITIONS)
    export_server(stranger, tmp_path / "export")
    assert verify_directory(tmp_path / "export", public_key=client.server.info().public_key).holds

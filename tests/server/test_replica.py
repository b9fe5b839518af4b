"""A replica serves what another server published, read-only, out of an exported directory."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from leakscale.client import Client
from leakscale.errors import AuthenticationError, IntegrityError, NotFoundError, NotRetiredError, ReadOnlyError
from leakscale.merkle import is_consistent, is_included, tree_hash
from leakscale.models import CertificationRequest, Condition, Edition, EditionPhase, Ring
from leakscale.verify import verify_directory
from leakscale.verify.exporting import export_server
from leakscale_server.app import serve
from leakscale_server.config import ConfigError
from leakscale_server.health import SCORER
from leakscale_server.listening import SERVICES

from .helpers import KEY, OTHER_SEEDS, World, a_draft, a_frozen_edition, a_plan, server_config


@pytest.fixture(scope="module")
def exported(client: Client, retired: Edition, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("primary") / "export"
    export_server(client, root)
    return root


@pytest.fixture(scope="module")
def replica(exported: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A client of a replica of the shared server."""
    data_dir = tmp_path_factory.mktemp("replica") / "data"
    with (
        serve(server_config(data_dir, replica_of=exported)) as running,
        Client(running.target, token=running.token) as made,
    ):
        yield made


def test_a_replica_serves_editions_as_their_server_does(client: Client, replica: Client, world: World) -> None:
    """Families in each ring, file, statement and roots are the same; of the life it shows what is published."""
    name = world.edition.name
    seen, own = replica.editions.get(name), client.editions.get(name)

    assert (seen.commitment_root, seen.certificates_digest) == (own.commitment_root, own.certificates_digest)
    assert (seen.freeze_statement, seen.freeze_time, seen.create_time) == (
        own.freeze_statement,
        own.freeze_time,
        own.create_time,
    )
    assert (seen.kind, seen.family_count, set(seen.shape_ids)) == (own.kind, own.family_count, set(own.shape_ids))
    assert [each.phase.value for each in seen.transitions] == ["draft", "frozen"]
    for ring in Ring:
        assert replica.editions.families(name, ring=ring) == client.editions.families(name, ring=ring)
    family = world.families[5]
    assert replica.editions.family(f"{name}/families/{family.family_id}") == family
    assert b"".join(replica.editions.download(name)) == b"".join(client.editions.download(name))
    assert {each.name for each in replica.editions.list()} >= {name, "editions/spent"}


def test_a_replica_serves_openings_of_retired_editions(
    client: Client, replica: Client, world: World, retired: Edition
) -> None:
    """And of no others, for it has none."""
    assert list(replica.editions.openings(retired.name)) == list(client.editions.openings(retired.name))
    assert replica.editions.get(retired.name).phase is EditionPhase.RETIRED
    assert replica.editions.get(retired.name).retirement_statement == retired.retirement_statement
    with pytest.raises(NotRetiredError):
        list(replica.editions.openings(world.edition.name))


def test_a_replica_serves_the_ledger_but_no_projects_entries(client: Client, replica: Client) -> None:
    """Head, leaves and proofs hold under the key of its server; what a project did stays with that."""
    head = replica.ledger.head()
    entries = list(replica.ledger.entries())
    leaves = [entry.leaf for entry in entries]

    assert head.public_key == client.server.info().public_key == replica.server.info().public_key
    assert tree_hash(leaves) == head.root
    assert {b'"kind":"edition-' in entry.content for entry in entries if entry.content} == {True}
    assert any(not entry.content for entry in entries)
    leaf, path = replica.ledger.inclusion_proof(0, entry_count=head.entry_count)
    assert is_included(leaf, 0, leaf_count=head.entry_count, root=head.root, path=path)
    assert is_consistent(
        first_count=1,
        first_root=leaves[0],
        second_count=head.entry_count,
        second_root=head.root,
        path=replica.ledger.consistency_proof(1, head.entry_count),
    )


def test_a_replica_changes_nothing(replica: Client, world: World) -> None:
    """Whoever wants to write hears where to turn, whatever the method."""
    name, bank = world.edition.name, world.experiment.banks[0].name
    request = CertificationRequest("sql-threshold", Condition.C0, 0)
    acts: list[Callable[[], object]] = [
        lambda: a_draft(replica, "new"),
        lambda: replica.editions.freeze(name),
        lambda: replica.editions.retire(name),
        lambda: list(replica.families.certify(name, [request])),
        lambda: replica.grants.expose(name, key=KEY, request_id="r"),
        lambda: replica.experiments.create(a_plan(world.edition, "new")),
        lambda: replica.experiments.get(world.experiment.name),
        lambda: replica.experiments.disclose(world.experiment.name),
        lambda: replica.banks.get(bank),
        lambda: replica.banks.submit(bank, []),
        lambda: replica.banks.seal(bank),
    ]

    for act in acts:
        with pytest.raises(ReadOnlyError, match="is a replica, which only reads"):
            act()


def test_a_replica_asks_for_a_token_and_knows_no_other_names(replica: Client, world: World) -> None:
    """The gate is the same."""
    with pytest.raises(NotFoundError):
        replica.editions.get("editions/none")
    with pytest.raises(NotFoundError):
        replica.editions.family(f"{world.edition.name}/families/f-none")
    with Client(replica._transport.target) as stranger, pytest.raises(AuthenticationError):
        stranger.editions.get(world.edition.name)


def test_a_replica_holds_no_secret(exported: Path, tmp_path: Path) -> None:
    """No vault, no key: a replica that is broken into gives away what was public anyway."""
    data_dir = tmp_path / "data"
    with serve(server_config(data_dir, replica_of=exported)):
        names = {path.name for path in data_dir.rglob("*")}

    assert not {"vault.db", "vault.key", "signing.key", "editions"} & names


def test_a_folder_is_a_servers_or_a_replicas(exported: Path, tmp_path: Path) -> None:
    """With the other's tokens a server would speak under another key to people who know the first."""
    with serve(server_config(tmp_path / "replica", replica_of=exported)):
        pass
    with pytest.raises(ConfigError, match="is a replica's; choose a new one for the server"):
        serve(server_config(tmp_path / "replica")).__enter__()
    with serve(server_config(tmp_path / "server")):
        pass
    with pytest.raises(ConfigError, match="is a server's; choose a new one for the replica"):
        serve(server_config(tmp_path / "server", replica_of=exported)).__enter__()

    assert not (tmp_path / "replica" / "signing.key").exists()


def test_any_number_of_replicas_serves_one_directory(exported: Path, tmp_path: Path, world: World) -> None:
    """Nothing in it is locked or written."""
    before = {path: hashlib.sha256(path.read_bytes()).digest() for path in exported.rglob("*") if path.is_file()}
    with ExitStack() as stack:
        for number in range(3):
            config = server_config(tmp_path / str(number), replica_of=exported)
            running = stack.enter_context(serve(config))
            made = stack.enter_context(Client(running.target, token=running.token))
            assert made.editions.families(world.edition.name) == world.families

    after = {path: hashlib.sha256(path.read_bytes()).digest() for path in exported.rglob("*") if path.is_file()}
    assert after == before


def test_a_replica_can_be_exported_and_verified(replica: Client, tmp_path: Path) -> None:
    """A stranger who never met the server checks it all the same."""
    export_server(replica, tmp_path / "export")

    assert verify_directory(tmp_path / "export", public_key=replica.ledger.head().public_key).holds


def test_a_directory_that_does_not_hold_is_not_served(exported: Path, tmp_path: Path) -> None:
    """The first thing that does not is named."""
    copy = tmp_path / "copy"
    shutil.copytree(exported, copy)
    (copy / "editions" / "world.sqlite").unlink()

    with (
        pytest.raises(ConfigError, match=r"editions/world\.sqlite: .*the file is missing"),
        serve(server_config(tmp_path / "a", replica_of=copy)),
    ):
        pass
    with (
        pytest.raises(ConfigError, match="holds no export of a server"),
        serve(server_config(tmp_path / "b", replica_of=tmp_path / "nothing")),
    ):
        pass


def test_a_file_that_changed_under_a_replica_is_not_served(exported: Path, tmp_path: Path, world: World) -> None:
    """It held at the start, and holds no more."""
    copy = tmp_path / "copy"
    shutil.copytree(exported, copy)
    config = server_config(tmp_path / "data", replica_of=copy)
    with serve(config) as running, Client(running.target, token=running.token) as made:
        file = copy / "editions" / "world.sqlite"
        content = file.read_bytes()
        file.unlink()
        file.write_bytes(content.replace(b"policy value", b"policy vaLue"))

        with pytest.raises(IntegrityError, match="not the one that was frozen"):
            made.editions.families(world.edition.name)
        with pytest.raises(IntegrityError, match="not the one that was frozen"):
            list(made.editions.download(world.edition.name))
        (copy / "editions" / "spent.openings.jsonl").write_bytes(b"")
        with pytest.raises(IntegrityError, match="not the stated ones"):
            list(made.editions.openings("editions/spent"))


def test_a_newer_export_is_taken_and_one_that_does_not_hold_is_not(
    client: Client, exported: Path, tmp_path: Path
) -> None:
    """Without a restart; until it holds, the former is served on."""
    copy = tmp_path / "copy"
    shutil.copytree(exported, copy)
    config = server_config(tmp_path / "data", replica_of=copy)
    with serve(config) as running, Client(running.target, token=running.token) as made:
        a_frozen_edition(client, "newer", **OTHER_SEEDS)
        with pytest.raises(NotFoundError):
            made.editions.get("editions/newer")

        export_server(client, copy)
        assert made.editions.get("editions/newer").is_frozen
        count = made.ledger.head().entry_count

        head = copy / "head.json"
        head.write_bytes(head.read_bytes().replace(b'"entry_count":', b'"entry_count":1'))
        assert made.ledger.head().entry_count == count
        assert made.editions.get("editions/newer").is_frozen


def test_the_health_of_a_replica_names_what_it_answers(replica: Client) -> None:
    """A balancer that asks for a service which only refuses must not send its callers here."""
    with grpc.insecure_channel(replica._transport.target) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)

        def told(name: str) -> Any:
            return next(stub.Watch(health_pb2.HealthCheckRequest(service=name), timeout=20)).status

        found = {name: told(name) for name in ("", *SERVICES, SCORER)}

    served = {name for name, status in found.items() if status == health_pb2.HealthCheckResponse.SERVING}
    assert served == {"", *(f"leakscale.v1.{name}Service" for name in ("Server", "Ledger", "Edition"))}
    assert {found[name] for name in set(found) - served} == {health_pb2.HealthCheckResponse.SERVICE_UNKNOWN}

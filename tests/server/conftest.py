"""A real server in this process, shared by the session, with one small edition that went through every stage."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from leakscale.client import Client
from leakscale.models import Edition
from leakscale_server.app import RunningServer, serve
from leakscale_server.identity.scopes import Role
from leakscale_server.identity.token_registry import TokenRegistry
from leakscale_server.limits import CallLimits
from leakscale_server.store.registry_tables import open_registry

from .deposited import client_of
from .helpers import OTHER_SEEDS, World, a_frozen_edition, a_world, server_config


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of the shared server."""
    return tmp_path_factory.mktemp("server") / "data"


@pytest.fixture(scope="session")
def server(data_dir: Path) -> Iterator[RunningServer]:
    # Its strangers are the tests, by the hundred; what they are told at most is in test_strangers.py.
    limits = CallLimits(stranger_calls_per_s=0)
    with serve(server_config(data_dir, http_listen="127.0.0.1:0", call_limits=limits)) as running:
        yield running


@pytest.fixture(scope="session")
def client(server: RunningServer) -> Iterator[Client]:
    with Client(server.target, token=server.token) as client:
        yield client


@pytest.fixture(scope="session")
def stranger(server: RunningServer, data_dir: Path) -> Iterator[Client]:
    """An admin of another project."""
    with closing(open_registry(data_dir)) as registry:
        issued = TokenRegistry(registry).create(
            principal="eve", project="south", role=Role.ADMIN, lifetime=timedelta(days=1)
        )
    with Client(server.target, token=issued.text) as made:
        yield made


@pytest.fixture(scope="session")
def world(client: Client) -> World:
    """A frozen edition, a redeemed grant and a disclosed experiment. Tests look at it and change nothing."""
    return a_world(client, edition_id="world")


@pytest.fixture(scope="session")
def retired(client: Client, world: World) -> Edition:
    """An edition whose truth is in the open."""
    frozen, _ = a_frozen_edition(client, "spent", **OTHER_SEEDS)
    return client.editions.retire(frozen.name)


@pytest.fixture(scope="module")
def author(server: RunningServer, data_dir: Path) -> Iterator[Client]:
    """Who deposits audits."""
    with client_of(server, data_dir, "ada", Role.AUTHOR, project="flows") as client:
        yield client


@pytest.fixture(scope="module")
def runner(server: RunningServer, data_dir: Path) -> Iterator[Client]:
    """Who answers them."""
    with client_of(server, data_dir, "rob", Role.AUDITOR, project="flows") as client:
        yield client

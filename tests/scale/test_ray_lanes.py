"""Sandboxes on the nodes of a Ray cluster: the same certificates, whichever node ran a program or died of it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from leakscale.client import Client
from leakscale.models import CertificationOutcome, EditionKind, ShapeFile
from leakscale.resources import catalog_folder
from leakscale_server.app import serve
from leakscale_server.config import ConfigError, ServerConfig
from leakscale_server.sandbox_pool import BackendUnavailable

ray = pytest.importorskip("ray")
from ray.cluster_utils import Cluster  # noqa: E402

from leakscale_server.sandbox_pool.ray_backend import LANE_RESOURCE, RayBackend  # noqa: E402

pytestmark = pytest.mark.slow

CACHE = Path(tempfile.gettempdir()) / "leakscale-test-cache"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A head that hosts nothing, and a node with room for two lanes."""
    started = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    started.add_node(num_cpus=1, resources={LANE_RESOURCE: 2})
    ray.init(address=started.address, log_to_driver=False)
    yield started
    ray.shutdown()
    started.shutdown()  # type: ignore[no-untyped-call]


def config(data_dir: Path, *, ray_address: str = "") -> ServerConfig:
    return ServerConfig(
        listen="127.0.0.1:0",
        data_dir=data_dir,
        cache_dir=CACHE,
        backend="bubblewrap",
        lane_count=2,
        ray_address=ray_address,
        grace_s=5.0,
    )


@contextmanager
def certifying(config: ServerConfig) -> Iterator[Iterator[CertificationOutcome]]:
    """Serve, and certify thirty-two families of two shapes as their outcomes are asked for."""
    names = ("sql/threshold.toml", "python/prefix.toml")
    shapes = [ShapeFile(name, (catalog_folder() / name).read_text(encoding="utf-8")) for name in names]
    with serve(config) as running, Client(running.target, token=running.token) as client:
        draft = client.editions.create(
            "lanes",
            kind=EditionKind.PRACTICE,
            families_per_cell=8,
            public_seed=b"p" * 32,
            practice_private_seed=b"s" * 32,
            shapes=shapes,
        )
        yield client.families.certify_edition(draft)


def certify(config: ServerConfig) -> list[bytes]:
    """Certify everything."""
    with certifying(config) as outcomes:
        return payloads(list(outcomes))


def payloads(outcomes: list[CertificationOutcome]) -> list[bytes]:
    """Return what was signed, in the order of families."""
    certificates = [outcome.certificate for outcome in sorted(outcomes, key=lambda outcome: outcome.family)]
    assert None not in certificates
    return [certificate.payload for certificate in certificates if certificate is not None]


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Certificates of one machine."""
    return certify(config(tmp_path_factory.mktemp("local") / "data"))


def test_certificates_of_a_cluster_are_those_of_one_machine(
    cluster: Cluster, local: list[bytes], tmp_path: Path
) -> None:
    """A certificate says what was proved in which image; on which node is nobody's business."""
    assert certify(config(tmp_path / "data", ray_address=cluster.address)) == local
    assert len(local) == 32


@pytest.mark.usefixtures("cluster")
def test_a_backend_that_nodes_could_choose_differently_is_refused(tmp_path: Path) -> None:
    """`auto` on two nodes may be Docker here and bubblewrap there."""
    with pytest.raises(ValueError, match="choose docker or bubblewrap"):
        RayBackend.open("auto", address="auto", state_dir=tmp_path)
    with pytest.raises(ConfigError, match="name the nodes' --backend"):
        ServerConfig("127.0.0.1:0", tmp_path, tmp_path, backend="auto", lane_count=2, ray_address="auto").check()


@pytest.mark.usefixtures("cluster")
def test_a_node_that_cannot_run_the_sandbox_says_why(tmp_path: Path) -> None:
    """What its own backend refuses there reaches the operator here."""
    blocked = tmp_path / "file"
    blocked.write_text("no folder")

    with pytest.raises(BackendUnavailable, match=r"no lane starts .*file"):
        RayBackend.open("bubblewrap", address="auto", state_dir=blocked / "cache")


def test_a_node_that_dies_midway_costs_no_certificate(cluster: Cluster, local: list[bytes], tmp_path: Path) -> None:
    """Its lanes, which are all of them, start anew on another node, and what they were doing is done again."""
    (host,) = cluster.worker_nodes
    with certifying(config(tmp_path / "data", ray_address=cluster.address)) as outcomes:
        cluster.add_node(num_cpus=1, resources={LANE_RESOURCE: 2})  # the lanes are running on the first one
        found = [next(outcomes)]
        cluster.remove_node(host, allow_graceful=False)
        found += outcomes
        lanes_elsewhere = ray.available_resources().get(LANE_RESOURCE, 0)

    assert host not in cluster.worker_nodes
    assert lanes_elsewhere < 2
    assert payloads(found) == local

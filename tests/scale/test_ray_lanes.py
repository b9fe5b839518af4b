"""Sandboxes on the nodes of a Ray cluster: the same certificates, whichever node ran a program or died of it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

import leakscale_sandbox
from leakscale.client import Client
from leakscale.models import CertificationOutcome, EditionKind, ShapeFile
from leakscale.resources import catalog_folder
from leakscale_server.__main__ import app
from leakscale_server.app import serve
from leakscale_server.config import ConfigError, ServerConfig
from leakscale_server.sandbox_pool import (
    CHANCE_LANES,
    Backend,
    BackendUnavailable,
    Job,
    Limits,
    SandboxFault,
    SandboxPool,
    choose_backend,
)
from leakscale_server.sandbox_pool.contract import Channel
from leakscale_server.sandbox_pool.lanes import LaneSettings

ray = pytest.importorskip("ray")
from ray.cluster_utils import Cluster  # noqa: E402

from leakscale_server.sandbox_pool.ray_backend import LANE_RESOURCE  # noqa: E402

pytestmark = pytest.mark.slow

CACHE = Path(tempfile.gettempdir()) / "leakscale-test-cache"
LANE_COUNT = 2
ENDLESS = "def transform(records):\n    while True:\n        pass\n"


@pytest.fixture(scope="module")
def head() -> Iterator[Cluster]:
    """A head that hosts nothing."""
    started = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    ray.init(address=started.address, log_to_driver=False)
    yield started
    ray.shutdown()
    started.shutdown()  # type: ignore[no-untyped-call]


@pytest.fixture(scope="module")
def cluster(head: Cluster) -> Cluster:
    """The head, and a node with room for two lanes."""
    head.add_node(num_cpus=1, resources={LANE_RESOURCE: LANE_COUNT})
    return head


def config(data_dir: Path, *, ray_address: str = "") -> ServerConfig:
    return ServerConfig(
        listen="127.0.0.1:0",
        data_dir=data_dir,
        cache_dir=CACHE,
        backend="bubblewrap",
        lane_count=LANE_COUNT,
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


def test_a_cluster_whose_nodes_host_no_lanes_says_how_they_would(head: Cluster, tmp_path: Path) -> None:
    """Ray itself would wait for such a node without a word."""
    with pytest.raises(BackendUnavailable, match=r"no node of Ray cluster .* hosts lanes; start nodes with"):
        choose_backend("bubblewrap", state_dir=tmp_path, ray_address=head.address)


def test_a_node_with_another_worker_is_refused(head: Cluster, tmp_path: Path) -> None:
    """A certificate names the worker by the digest of the server's own."""
    other = shutil.copytree(Path(leakscale_sandbox.__file__).parent, tmp_path / "leakscale_sandbox")
    with (other / "worker.py").open("a") as file:
        file.write("# another version\n")
    path = os.pathsep.join((str(tmp_path), os.environ.get("PYTHONPATH", "")))
    node = head.add_node(num_cpus=1, resources={LANE_RESOURCE: 1}, env_vars={"PYTHONPATH": path})

    with pytest.raises(BackendUnavailable, match="another version of the sandbox's worker"):
        choose_backend("bubblewrap", state_dir=CACHE, ray_address=head.address)
    head.remove_node(node)


def test_certificates_of_a_cluster_are_those_of_one_machine(
    cluster: Cluster, local: list[bytes], tmp_path: Path
) -> None:
    """A certificate says what was proved in which image; on which node is nobody's business."""
    assert certify(config(tmp_path / "data", ray_address=cluster.address)) == local
    assert len(local) == 32


@pytest.mark.usefixtures("cluster")
def test_a_node_that_cannot_run_the_sandbox_says_why(tmp_path: Path) -> None:
    """What its own backend refuses there reaches the operator here."""
    blocked = tmp_path / "file"
    blocked.write_text("no folder")

    with pytest.raises(BackendUnavailable, match=r"on its node: .*file"):
        choose_backend("bubblewrap", state_dir=blocked / "cache", ray_address="auto")


def test_a_backend_that_nodes_could_choose_differently_is_refused(tmp_path: Path) -> None:
    """`auto` on two nodes may be Docker here and bubblewrap there."""
    with pytest.raises(ValueError, match="choose docker or bubblewrap"):
        choose_backend("auto", state_dir=tmp_path, ray_address="auto")
    with pytest.raises(ConfigError, match="name the nodes' --backend, docker or bubblewrap"):
        ServerConfig("127.0.0.1:0", tmp_path, tmp_path, backend="auto", lane_count=2, ray_address="auto").check()


@pytest.mark.usefixtures("cluster")
def test_lanes_that_few_programs_need_start_where_every_place_is_taken() -> None:
    """Else no program that can see chance could be certified on a cluster that is just large enough."""
    job = Job("python", ("def transform(records):\n    return hash('a')",), (b"[]",))
    backend, _ = choose_backend("bubblewrap", state_dir=CACHE, ray_address="auto")
    with SandboxPool(backend, lane_count=LANE_COUNT) as pool:
        hashes = {pool.run(job, lane=lane)[0][0].output for lane in (0, 1, *CHANCE_LANES[:2])}

    assert len(hashes) == 4


@pytest.mark.usefixtures("cluster")
def test_more_lanes_than_the_nodes_have_room_for_are_refused_at_once() -> None:
    """And the lanes that did start are gone again."""
    backend, _ = choose_backend("bubblewrap", state_dir=CACHE, ray_address="auto")

    with pytest.raises(SandboxFault, match=f"has room for {LANE_COUNT} lanes, and all are taken"):
        SandboxPool(backend, lane_count=LANE_COUNT + 2).__enter__()
    with SandboxPool(choose_backend("bubblewrap", state_dir=CACHE, ray_address="auto")[0], lane_count=LANE_COUNT):
        pass


class Announcing:
    """A backend whose lane says when it has been sent a job."""

    def __init__(self, backend: Backend) -> None:
        self.name, self.runtime, self.image_digest = backend.name, backend.runtime, backend.image_digest
        self.close, self._backend = backend.close, backend
        self.has_sent = threading.Event()

    def start_lane(self, settings: LaneSettings) -> Channel:
        channel = self._backend.start_lane(settings)
        send = channel.send

        def announce(data: bytes, *, deadline: float) -> None:
            send(data, deadline=deadline)
            self.has_sent.set()

        channel.send = announce  # type: ignore[method-assign]
        return channel


@pytest.mark.usefixtures("cluster")
def test_closing_ends_a_program_on_its_node() -> None:
    """Whoever interrupts a command does not wait until the time of a program is over, here ten minutes."""
    backend = Announcing(choose_backend("bubblewrap", state_dir=CACHE, ray_address="auto")[0])
    limits = Limits(wall_time_s_max=600, cpu_time_s_max=600)
    pool = SandboxPool(backend, lane_count=1)
    with ThreadPoolExecutor(1) as caller, pool:
        running = caller.submit(pool.run, Job("python", (ENDLESS,), (b"[]",), limits=limits))
        assert backend.has_sent.wait(60)
        pool.close()

        with pytest.raises(SandboxFault, match=r"closed|ended"):
            running.result()


def test_catalog_check_runs_on_the_nodes(cluster: Cluster) -> None:
    """An author with a cluster checks a folder of shapes on all of it."""
    shape = str(catalog_folder() / "sql" / "threshold.toml")
    options = ["--backend", "bubblewrap", "--cache-dir", str(CACHE), "--lanes", "2", "--ray-address", cluster.address]

    done = CliRunner().invoke(app, ["catalog", "check", shape, "--json", *options])

    assert done.exit_code == 0, done.output
    assert '"backend": "bubblewrap"' in done.output


def test_a_server_on_a_cluster_stops_when_told_to(cluster: Cluster, tmp_path: Path) -> None:
    """Ray ends a process on SIGTERM at once; a server finishes its calls first, and leaves no lane behind."""
    reader, writer = os.pipe()
    command = [
        sys.executable,
        "-m",
        "leakscale_server",
        "--data-dir",
        str(tmp_path / "data"),
        "--listen",
        "127.0.0.1:0",
    ]
    command += ["--cache-dir", str(CACHE), "--backend", "bubblewrap", "--lanes", "2", "--ready-fd", str(writer)]
    server = subprocess.Popen(
        [*command, "--ray-address", cluster.address],
        pass_fds=(writer,),
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(writer)
    with os.fdopen(reader) as ready:
        assert '"backend": "bubblewrap"' in ready.readline()
    server.send_signal(signal.SIGTERM)
    _, log = server.communicate()

    assert server.returncode == 0
    assert '"event": "stopping"' in log
    with SandboxPool(choose_backend("bubblewrap", state_dir=CACHE, ray_address="auto")[0], lane_count=LANE_COUNT):
        pass


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

"""What Docker really set on a container, and that no container outlives its server."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest

from leakscale_server.sandbox_pool import BackendUnavailable, SandboxPool, choose_backend, open_backend
from leakscale_server.sandbox_pool.containers import CONTAINER_LABEL, OWNER_LABEL, Sweeper, sweep
from leakscale_server.sandbox_pool.lanes import LaneSettings
from leakscale_server.sandbox_pool.owners import is_gone, this_process

from .helpers import SERVER, SERVER_ENVIRONMENT, a_python_job, descendants, value_of

pytestmark = pytest.mark.docker

HONEST = a_python_job("def transform(records):\n    return records")
DEAD_OWNER = "/".join((*this_process().split("/")[:2], "4194305", "1"))


@pytest.fixture
def client() -> Iterator[docker.DockerClient]:
    client = docker.from_env()
    yield client
    client.close()


def ours(client: docker.DockerClient, owner: str) -> list[object]:
    filters: dict[str, str | list[str] | bool] = {"label": f"{OWNER_LABEL}={owner}"}
    return list(client.containers.list(all=True, filters=filters, ignore_removed=True))


def wait_until_gone(client: docker.DockerClient, owner: str) -> None:
    deadline = time.monotonic() + 30
    while ours(client, owner) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert ours(client, owner) == []


def test_hardening_is_really_set(client: docker.DockerClient, state_dir: Path) -> None:
    """An option that the daemon ignored would protect nobody; so it is asked, not the code."""
    backend = open_backend("docker", state_dir=state_dir)
    channel = backend.start_lane(LaneSettings.of(1))
    try:
        seen = client.api.inspect_container(channel.container_id)  # type: ignore[attr-defined]
    finally:
        backend.close()
    host, config = seen["HostConfig"], seen["Config"]

    assert host["NetworkMode"] == "none"
    assert host["ReadonlyRootfs"] is True
    assert host["CapDrop"] == ["ALL"]
    assert not host["CapAdd"]
    assert host["SecurityOpt"] == ["no-new-privileges"]
    assert host["PidsLimit"] == 32
    assert host["Memory"] == host["MemorySwap"] == 512 << 20
    assert host["IpcMode"] == "none"
    assert host["LogConfig"]["Type"] == "none"
    assert host["AutoRemove"] is True
    assert host["Privileged"] is False
    assert not host["Binds"]
    assert not host.get("Tmpfs")
    assert not host["Devices"]
    assert seen["Mounts"] == []
    assert config["User"] == "65534:65534"
    assert config["StdinOnce"] is True
    assert config["Tty"] is False
    assert "PYTHONHASHSEED=2" in config["Env"]
    assert config["Labels"][OWNER_LABEL] == this_process()


def test_the_worker_is_alone_in_its_container(client: docker.DockerClient, state_dir: Path) -> None:
    """No init, no shell: PID 1 is the worker, without capabilities and under no-new-privileges."""
    backend = open_backend("docker", state_dir=state_dir)
    channel = backend.start_lane(LaneSettings.of(0))
    try:
        container = channel.container_id  # type: ignore[attr-defined]
        pid = client.api.inspect_container(container)["State"]["Pid"]
        facts = dict(
            line.split(":\t") for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line
        )
        children = descendants(pid)
    finally:
        backend.close()

    assert children == set()
    assert facts["Uid"].split() == ["65534"] * 4
    assert facts["CapEff"] == facts["CapPrm"] == facts["CapBnd"] == "0" * 16
    assert facts["NoNewPrivs"] == "1"
    assert facts["Seccomp"] == "2"


def test_no_container_is_left_after_close(client: docker.DockerClient, state_dir: Path) -> None:
    """A server that stops in order cleans up in order."""
    others = len(ours(client, this_process()))
    with SandboxPool(open_backend("docker", state_dir=state_dir), lane_count=2) as pool:
        pool.run(HONEST)
        before = len(ours(client, this_process()))

    assert before == others + 2
    assert len(ours(client, this_process())) == others


def test_no_container_is_left_after_the_server_is_killed(client: docker.DockerClient, state_dir: Path) -> None:
    """Killed with SIGKILL in the middle of a job, a server cannot clean up: the worker must end by itself."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, "docker", str(state_dir)],
        stdout=subprocess.PIPE,
        env=SERVER_ENVIRONMENT,
    ) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        containers = client.containers.list(filters={"label": CONTAINER_LABEL})
        owners = {one.labels[OWNER_LABEL] for one in containers if f"/{server.pid}/" in one.labels[OWNER_LABEL]}
        server.send_signal(signal.SIGKILL)
        server.wait()

    assert len(owners) == 1
    wait_until_gone(client, owners.pop())


def test_a_stale_container_is_swept_and_a_live_one_is_not(client: docker.DockerClient, state_dir: Path) -> None:
    """One that never started has no standard input to lose: a crash between create and start leaves it."""
    backend = open_backend("docker", state_dir=state_dir)
    live = backend.start_lane(LaneSettings.of(0))
    image = client.api.inspect_container(live.container_id)["Image"]  # type: ignore[attr-defined]
    labels = {CONTAINER_LABEL: "1", OWNER_LABEL: DEAD_OWNER}
    client.containers.create(image, ["-c", "pass"], labels=labels, network_mode="none")
    try:
        assert len(ours(client, DEAD_OWNER)) == 1
        sweep(client)
        left = len(ours(client, DEAD_OWNER))
        alive = client.api.inspect_container(live.container_id)["State"]["Running"]  # type: ignore[attr-defined]
    finally:
        backend.close()

    assert left == 0
    assert alive is True


def test_a_container_that_becomes_stale_later_is_swept_too(client: docker.DockerClient, state_dir: Path) -> None:
    """A server that runs for weeks must clean up after one that is killed beside it, not only after earlier ones."""
    backend = open_backend("docker", state_dir=state_dir)
    sweeper = Sweeper(client, interval_s=0.05)
    try:
        live = backend.start_lane(LaneSettings.of(0))
        image = client.api.inspect_container(live.container_id)["Image"]  # type: ignore[attr-defined]
        labels = {CONTAINER_LABEL: "1", OWNER_LABEL: DEAD_OWNER}
        # The library's other way asks for the container once more, and by then it may be swept.
        network = client.api.create_host_config(network_mode="none")
        assert client.api.create_container(image, ["-c", "pass"], labels=labels, host_config=network)["Id"]
        wait_until_gone(client, DEAD_OWNER)
        alive = client.api.inspect_container(live.container_id)["State"]["Running"]  # type: ignore[attr-defined]
    finally:
        sweeper.close()
        backend.close()

    assert alive is True


def test_the_usual_runtime_goes_without_saying(state_dir: Path) -> None:
    """Certificates name a runtime only where it is another one, so those of before stay as they were."""
    with SandboxPool(open_backend("docker", state_dir=state_dir, runtime="runc"), lane_count=1) as pool:
        assert pool.identity.runtime == ""


def test_a_runtime_that_docker_lists_is_named_in_the_identity(client: docker.DockerClient, state_dir: Path) -> None:
    """`io.containerd.runc.v2` is the same program under another name, and so shows what a stronger one does."""
    other = "io.containerd.runc.v2"
    if other not in client.info()["Runtimes"]:
        pytest.skip("this daemon lists no second runtime")

    with SandboxPool(open_backend("docker", state_dir=state_dir, runtime=other), lane_count=1) as pool:
        outcome = pool.run(HONEST)
        runtimes = {
            client.api.inspect_container(str(one.id))["HostConfig"]["Runtime"]
            for one in client.containers.list()
            if one.labels.get(OWNER_LABEL) == this_process()
        }

        assert pool.identity.runtime == other
    assert other in runtimes
    assert value_of(outcome[0][0]) == [1]


def test_a_runtime_that_the_daemon_lacks_is_named(state_dir: Path) -> None:
    """Falling back to the usual one would be weaker than what was asked for."""
    with pytest.raises(BackendUnavailable, match=r"no runtime 'none-such' \(it has .*runc"):
        open_backend("docker", state_dir=state_dir, runtime="none-such")
    for name in ("auto", "bubblewrap"):
        with pytest.raises(ValueError, match="with the backend docker only"):
            choose_backend(name, state_dir=state_dir, runtime="runsc")


def test_a_container_that_dies_is_replaced(client: docker.DockerClient, state_dir: Path) -> None:
    """The daemon or the kernel may kill a container at any time; the job runs again elsewhere."""
    with SandboxPool(open_backend("docker", state_dir=state_dir), lane_count=1) as pool:
        pool.run(HONEST)
        owned = [one for one in client.containers.list() if one.labels.get(OWNER_LABEL) == this_process()]
        newest = max(owned, key=lambda one: str(one.attrs["Created"]))
        newest.kill()
        outcome = pool.run(HONEST)

    assert value_of(outcome[0][0]) == [1]


def test_an_owner_of_elsewhere_is_never_declared_dead() -> None:
    """Its containers may be in use by a server that this process cannot see."""
    boot, namespace, pid, start_time = this_process().split("/")

    assert not is_gone(this_process())
    assert not is_gone("")
    assert not is_gone(f"{boot}/pid:[1]/{pid}/0")
    assert is_gone(f"{boot}/{namespace}/{pid}/{int(start_time) + 1}")

"""Engine `ray` on a cluster of two nodes, on this machine."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from leakscale.base_model import base_model_folder
from leakscale.errors import ConflictError, InvalidRequestError, ModelError, NotFoundError, UnavailableError
from leakscale.inference import BankFiles, Case, FrozenBank, answer_bank, open_engine
from leakscale.scale import Shard, merge_shards, shard_files, shard_range

ray = pytest.importorskip("ray")
from ray.cluster_utils import Cluster  # noqa: E402

from leakscale.scale.ray_engine import RayEngine  # noqa: E402

pytestmark = pytest.mark.slow

OPTIONS: dict[str, Any] = {"worker_count": 2, "questions_per_task": 1, "patience_s": 120}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A head without CPUs, and two nodes with one each: a worker a node."""
    started = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    for _ in range(2):
        started.add_node(num_cpus=1)
    ray.init(address=started.address, log_to_driver=False)
    yield started
    ray.shutdown()
    started.shutdown()  # type: ignore[no-untyped-call]


def open_ray(**changes: Any) -> RayEngine:
    engine = open_engine("ray", model=base_model_folder(), options=OPTIONS | changes)
    assert isinstance(engine, RayEngine)
    return engine


def wait_for_workers(engine: RayEngine, bank: FrozenBank, count: int) -> None:
    while engine.worker_count < count:
        engine.preflight([bank.question(0)])


def alive_count() -> int:
    return sum(node["Alive"] for node in ray.nodes())


def same_files(one: BankFiles, other: BankFiles) -> bool:
    return all(
        getattr(one, kind).read_bytes() == getattr(other, kind).read_bytes()
        for kind in ("plan", "attempts", "results", "binding")
    )


@pytest.mark.usefixtures("cluster")
def test_a_cluster_answers_as_one_machine_does(bank: FrozenBank, files: BankFiles, local: BankFiles) -> None:
    """Identity, attempts, results and binding: nothing on disk says where it was answered."""
    engine = open_ray()
    wait_for_workers(engine, bank, 2)

    answer_bank(bank, engine, files)

    assert same_files(files, local)
    engine.close()


@pytest.mark.usefixtures("cluster")
def test_a_local_run_is_gone_on_with_by_a_cluster_and_back(
    bank: FrozenBank, files: BankFiles, local: BankFiles
) -> None:
    """A queue's time is over in the middle of a bank; the rest is answered wherever there is room."""
    lines = local.attempts.read_bytes().splitlines(keepends=True)
    files.attempts.write_bytes(b"".join(lines[:6]))
    engine = open_ray(worker_count=1)

    answer_bank(bank, engine, files)

    assert same_files(files, local)
    engine.close()


@pytest.mark.usefixtures("cluster")
def test_shards_may_be_answered_by_clusters(bank: FrozenBank, files: BankFiles, local: BankFiles) -> None:
    """Two arrays of jobs, each with its own cluster."""
    engine = open_ray(worker_count=1)
    for number in (2, 1):
        shard = Shard(number, 2)
        answer_bank(bank, engine, shard_files(files, shard), indices=shard_range(bank, shard))

    merge_shards(bank, files, shard_count=2)

    assert same_files(files, local)
    engine.close()


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(
    ("changes", "kind", "words"),
    [
        ({"engine": "ray"}, InvalidRequestError, "cannot be of engine 'ray'"),
        ({"engine": "other"}, InvalidRequestError, "engine 'other' is not one of"),
        ({"options": {"dtype": "int4"}}, InvalidRequestError, "dtype' is 'int4'"),
        ({"worker_count": -1}, InvalidRequestError, "worker_count -1"),
        ({"workers": 2}, InvalidRequestError, "option 'workers' does not exist"),
        ({"cpu_count": 0}, InvalidRequestError, "needs some CPU or GPU"),
        ({"worker_count": 0, "gpu_count": 1}, UnavailableError, "0 GPUs, and a worker needs 1 and 1"),
        ({"worker_count": 1, "cpu_count": 5, "patience_s": 2}, UnavailableError, "no worker was ready after 2 s"),
    ],
)
def test_what_cannot_work_is_refused_by_name(changes: dict[str, Any], kind: type[Exception], words: str) -> None:
    """What a worker refuses on its node reaches the caller as it would from this process."""
    with pytest.raises(kind, match=words):
        open_ray(**changes)


@pytest.mark.usefixtures("cluster")
def test_a_model_that_a_node_has_not_is_named(tmp_path: Path) -> None:
    """Nodes without a shared file system fail here first."""
    with pytest.raises((NotFoundError, ModelError), match="gone"):
        open_engine("ray", model=tmp_path / "gone", options=OPTIONS)


@pytest.mark.usefixtures("cluster")
def test_another_engine_does_not_go_on_with_a_bank(bank: FrozenBank, files: BankFiles, local: BankFiles) -> None:
    """The workers' engine is the identity, so another mode is another run."""
    files.attempts.write_bytes(local.attempts.read_bytes())
    engine = open_ray(worker_count=1, options={"mode": "exact-conditional"})

    with pytest.raises(ConflictError, match="mode"):
        answer_bank(bank, engine, files)
    engine.close()


def test_a_node_that_dies_midway_changes_nothing(
    cluster: Cluster, bank: FrozenBank, files: BankFiles, local: BankFiles
) -> None:
    """Spot instances end without notice; its questions are asked of the other node, and the files are the same."""
    engine = open_ray()
    wait_for_workers(engine, bank, 2)
    nodes_before = len(cluster.worker_nodes)
    alive_before = alive_count()
    killed: list[int] = []

    class Killing:
        """The engine, whose second node is killed once a third of the bank was taken."""

        identity, mode, preflight = engine.identity, engine.mode, engine.preflight

        def answer(self, cases: Iterable[Case]) -> Iterator[Any]:
            return engine.answer(self._with_a_death(cases))

        def _with_a_death(self, cases: Iterable[Case]) -> Iterator[Case]:
            for case in cases:
                if case.question.index == bank.question_count // 3 and not killed:
                    killed.append(case.index)
                    cluster.remove_node(list(cluster.worker_nodes)[-1], allow_graceful=False)
                    while alive_count() == alive_before:  # its worker goes on for a moment, and could finish the bank
                        time.sleep(0.1)
                yield case

    answer_bank(bank, Killing(), files)

    assert killed
    assert engine.lost_count == 1
    assert len(cluster.worker_nodes) == nodes_before - 1
    assert same_files(files, local)
    engine.close()


def test_without_ray_the_engine_names_the_extra() -> None:
    """A plain installation has the engine's name and not its library."""
    code = (
        "import sys; sys.modules['ray'] = None\n"
        "from leakscale.inference import open_engine\n"
        "open_engine('ray', model='tiny')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert "pip install 'leakscale[ray]'" in done.stderr.splitlines()[-1]


def test_naming_the_engine_loads_no_ray() -> None:
    """`import leakscale.scale` is what a Slurm script's merge pays for."""
    code = "import sys, leakscale.scale; print('ray' in sys.modules, 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False False\n"

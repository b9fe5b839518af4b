"""Every attack of the corpus on every backend: it ran, it ended as it must, and nothing of it is left."""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest

from leakscale_sandbox.canonical_reader import canonical_text
from leakscale_server.sandbox_pool import Backend, Execution, Job, SandboxPool, Verdict
from leakscale_server.sandbox_pool.contract import Channel
from leakscale_server.sandbox_pool.docker_channel import DockerChannel
from leakscale_server.sandbox_pool.lanes import LaneSettings
from leakscale_server.sandbox_pool.pipe_channel import PipeChannel

from .attacks import ATTACKS_FOLDER, KINDS, Attack, Bare, read_attacks, serialized
from .conftest import BACKENDS
from .helpers import a_backend, descendants

ATTACKS = read_attacks()
CANARY = f"canary-{secrets.token_hex(8)}"
"""Stands in the programs and fixtures of every honest job, so of every neighbor of an attack."""

NEIGHBORS = {
    "python": f"NOTE = '{CANARY}'\ndef transform(records):\n    return [len(NOTE), 6]",
    "sql": f"SELECT length('{CANARY}') AS n, 6 AS m /* {CANARY} */",
}
NEIGHBOR_ANSWERS = {"python": "[23,6]", "sql": '{"columns":["n","m"],"rows":[[23,6]]}'}
HARMLESS = {"python": 'returned "disarmed"', "sql": "returned {"}
"""What an attack answers without the lines that attack."""

HONEST_JOBS = (
    Job(
        "python",
        (NEIGHBORS["python"], "def transform(records):\n    return sum(map(len, records))"),
        (f'["{CANARY}", "x"]'.encode(),),
    ),
    Job(
        "sql",
        (NEIGHBORS["sql"], "SELECT count(*) AS n, sum(length(s)) AS m FROM c ORDER BY 1"),
        (serialized(f"CREATE TABLE c (s TEXT); INSERT INTO c VALUES ('{CANARY}'), ('x')"),),
    ),
)
HONEST_ANSWERS = (["[23,6]", "24"], [NEIGHBOR_ANSWERS["sql"], '{"columns":["n","m"],"rows":[[2,24]]}'])


class WatchedBackend:
    """A backend that remembers which worker serves a lane now."""

    def __init__(self, backend: Backend) -> None:
        self.name, self.image_digest, self.runtime = backend.name, backend.image_digest, backend.runtime
        self.channels: dict[int, Channel] = {}
        self._backend = backend

    def start_lane(self, settings: LaneSettings) -> Channel:
        channel = self.channels[int(settings.is_second)] = self._backend.start_lane(settings)
        return channel

    def close(self) -> None:
        self._backend.close()


class Arena:
    """A warm pool in which attacks and honest jobs take turns."""

    def __init__(self, pool: SandboxPool, backend: WatchedBackend) -> None:
        self._pool = pool
        self._backend = backend
        self._daemon = docker.from_env() if backend.name == "docker" else None

    def close(self) -> None:
        self._pool.close()
        if self._daemon is not None:
            self._daemon.close()

    def worker(self, lane: int) -> Channel:
        return self._backend.channels[lane]

    def assault(self, attack: Attack, lane: int) -> Execution:
        """Run an attack between two honest programs of its own family, which must not notice."""
        neighbor = NEIGHBORS[attack.domain]
        job = Job(
            attack.domain, (neighbor, attack.source, neighbor), (attack.fixture,), attack.ordered, limits=attack.limits
        )
        (before,), (execution,), (after,) = self._pool.run(job, lane=lane)

        expected = NEIGHBOR_ANSWERS[attack.domain].replace("rows", "rows" if attack.ordered else "bag")
        assert text_of(before) == text_of(after) == expected
        return execution

    def disarmed(self, attack: Attack, lane: int) -> Execution:
        """Run what is left of an attack without the lines that attack."""
        job = Job(attack.domain, (attack.disarmed,), (attack.fixture,), attack.ordered)
        return self._pool.run(job, lane=lane)[0][0]

    def honest_answers(self, lane: int) -> tuple[list[str], ...]:
        outcomes = [self._pool.run(job, lane=lane) for job in HONEST_JOBS]
        return tuple([text_of(one) for (one,) in outcome] for outcome in outcomes)

    def process_numbers(self, lane: int) -> list[int]:
        """Return the number *inside* the sandbox of each process that lives in it, zombies included."""
        channel = self.worker(lane)
        if isinstance(channel, PipeChannel):
            # A process of the jail that lost its parent is a child of the jail's PID 1, so none escapes this walk.
            return [number_inside(pid) for pid in descendants(channel.process_id)]
        assert isinstance(channel, DockerChannel)
        assert self._daemon is not None
        first = self._daemon.api.inspect_container(channel.container_id)["State"]["Pid"]
        return [number_inside(pid) for pid in (first, *descendants(first))]


def text_of(execution: Execution) -> str:
    assert execution.verdict is Verdict.RETURNED, execution
    return canonical_text(execution.output)


def number_inside(pid: int) -> int:
    """Return a process's number in its innermost PID namespace."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    return int(next(line for line in status.splitlines() if line.startswith("NSpid:")).split()[-1])


@pytest.fixture(scope="module", params=BACKENDS)
def arena(request: pytest.FixtureRequest, state_dir: Path) -> Iterator[Arena]:
    backend = WatchedBackend(a_backend(request.param, state_dir))
    with SandboxPool(backend, lane_count=2, lease_count_max=1 << 20) as pool:
        arena = Arena(pool, backend)
        # The first attack has neighbors too.
        assert [arena.honest_answers(lane) for lane in range(2)] == [HONEST_ANSWERS] * 2
        yield arena
        arena.close()


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_an_attack_is_contained(attack: Attack, arena: Arena) -> None:
    """The whole promise of the sandbox, for one program: it ran, and nothing but its own verdict came of it."""
    if attack.machine not in ("", os.uname().machine):
        pytest.skip(f"only stopped on {attack.machine}")
    lanes = (0, 1) if attack.must_differ else (attack.lane,)
    workers = [arena.worker(lane) for lane in lanes]

    executions = [arena.assault(attack, lane) for lane in lanes]
    disarmed = [arena.disarmed(attack, lane) for lane in lanes if attack.is_armed]

    # 1. It ended as it must, and only because it attacked.
    for execution in executions:
        assert any(one.is_met_by(execution) for one in attack.expectations), seen(execution)
    for execution in disarmed:
        assert seen(execution).startswith(HARMLESS[attack.domain]), seen(execution)
    assert len(set(map(seen, executions))) == len(executions), "two lanes agree about what is left to chance"
    # 2. Whoever comes next gets the right bytes.
    assert [arena.honest_answers(lane) for lane in lanes] == [HONEST_ANSWERS] * len(lanes)
    # 3. Nothing of it lives on.
    assert [arena.process_numbers(lane) for lane in lanes] == [[1]] * len(lanes)
    # 4. The worker shrugged it off, or was replaced because bytes were forged.
    assert [arena.worker(lane) is worker for lane, worker in zip(lanes, workers, strict=True)] == [
        not attack.is_lane_replaced
    ] * len(lanes)
    # 5. It saw nothing of its neighbors.
    for execution in (*executions, *disarmed):
        assert CANARY.encode() not in execution.output
        assert CANARY not in execution.detail


def seen(execution: Execution) -> str:
    """Return an execution in words, for comparing and for reading."""
    told = canonical_text(execution.output) if execution.verdict is Verdict.RETURNED else execution.detail
    return f"{execution.verdict} {told}"


REFUSED = [attack for attack in ATTACKS if attack.bare is not Bare.EITHER]


@pytest.mark.parametrize("attack", REFUSED, ids=str)
def test_a_refused_statement_is_refused_for_what_it_does(
    attack: Attack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A misprint would be refused too, and prove nothing: without a guard, the engine takes the statement."""
    monkeypatch.chdir(tmp_path)
    connection = sqlite3.connect(":memory:")
    connection.deserialize(attack.fixture)

    try:
        connection.executescript(attack.source)
        ended = Bare.RUNS
    except (sqlite3.Error, OverflowError):
        ended = Bare.FAILS
    finally:
        connection.close()

    assert ended is attack.bare


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_an_attack_says_what_it_is(attack: Attack) -> None:
    """A file that nobody can place, or that would pass without having attacked, is no evidence."""
    assert attack.kind in KINDS
    assert attack.aim
    assert attack.proof
    # What returns shows in its output that it ran; whatever ends otherwise must owe that to its marked lines.
    if all(one.verdict is not Verdict.RETURNED for one in attack.expectations):
        assert attack.is_armed
    if attack.must_differ:
        assert not attack.is_lane_replaced


def test_every_kind_has_an_attack() -> None:
    """The list of kinds is a promise."""
    assert {attack.kind for attack in ATTACKS} == set(KINDS)


def test_no_two_attacks_are_the_same_program() -> None:
    """A copy would count twice and prove once."""
    bodies = ["\n".join(line for line in a.source.splitlines() if not line.startswith(("#", "--"))) for a in ATTACKS]

    assert len(set(bodies)) == len(ATTACKS) >= 120


def test_the_page_about_the_corpus_counts_right() -> None:
    """A table of counts that nobody checks is wrong after the next file."""
    page = (ATTACKS_FOLDER / "README.md").read_text(encoding="utf-8")
    counts = Counter((attack.kind, attack.domain) for attack in ATTACKS)

    for kind in KINDS:
        assert f"| {kind} | {counts[kind, 'python']} | {counts[kind, 'sql']} |" in page

"""The pool against workers that lie, stall and die: fakes at the `Channel` protocol say what a real one would not."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest

from leakscale_sandbox.verdicts import Verdict
from leakscale_sandbox.wire import (
    JOB_HEADER,
    PROTOCOL_VERSION,
    Ending,
    JobHeader,
    ResultHeader,
    encode_greeting,
    encode_record,
)
from leakscale_server.sandbox_pool import CHANCE_LANES, BackendUnavailable, Job, SandboxFault, SandboxPool
from leakscale_server.sandbox_pool.backends import prove
from leakscale_server.sandbox_pool.lanes import LANE_KINDS, LaneError, LaneSettings

from .helpers import a_python_job

FACTS: dict[str, object] = {
    "python_build": "3", "sqlite_version": "3", "sqlite_source_id": "x", "sqlite_compile_options": ["A"],
    "canonical_version": 1, "protocol_version": PROTOCOL_VERSION, "machine": "x86_64",
    "exception_names": ["ValueError"],
}  # fmt: skip
ONE = b"\x01i\0\0\0\x011"
Answer = Callable[[JobHeader], bytes]


def a_result(header: JobHeader, slot: int = 0, *, body: bytes | None = None, **changes: int) -> bytes:
    """Build what an honest worker says about one program."""
    written = encode_record(Verdict.RETURNED, ONE) * header.fixture_count if body is None else body
    fields = {"code": 0, "slot": slot, "program_count": 1, "sequence": header.sequence, "body_bytes": len(written)}
    fields |= changes
    return ResultHeader(ending=Ending.EXITED, wall_time_us=1, cpu_time_us=1, **fields).pack() + written


def honest(header: JobHeader) -> bytes:
    return b"".join(a_result(header, slot) for slot in range(header.program_count))


@dataclass
class FakeChannel:
    """A worker that answers each job with scripted bytes."""

    answer: Answer
    greeting: bytes = field(default_factory=lambda: encode_greeting(FACTS))
    is_closed: bool = False

    def __post_init__(self) -> None:
        self._output = bytearray(self.greeting)

    def send(self, data: bytes, *, deadline: float) -> None:
        self._output += self.answer(JobHeader.unpack(data[: JOB_HEADER.size]))

    def receive(self, byte_count: int, *, deadline: float) -> bytes:
        if len(self._output) < byte_count:
            raise LaneError("the deadline passed")
        received = bytes(self._output[:byte_count])
        del self._output[:byte_count]
        return received

    def has_pending(self) -> bool:
        return bool(self._output)

    def close(self) -> None:
        self.is_closed = True


class FakeBackend:
    """Starts scripted workers, one after the other; the last script repeats."""

    name = "fake"
    runtime = ""
    image_digest = "sha256:0"

    def __init__(self, *scripts: Answer | FakeChannel) -> None:
        self._scripts = list(scripts)
        self.started: list[FakeChannel] = []
        self.settings: list[LaneSettings] = []

    def start_lane(self, settings: LaneSettings) -> FakeChannel:
        self.settings.append(settings)
        script = self._scripts.pop(0) if len(self._scripts) > 1 else self._scripts[0]
        self.started.append(script if isinstance(script, FakeChannel) else FakeChannel(script))
        return self.started[-1]

    def close(self) -> None:
        for channel in self.started:
            channel.close()


def wait_until(is_so: Callable[[], bool]) -> bool:
    """Wait for what another thread does; return whether it did it in ten seconds."""
    deadline = time.monotonic() + 10
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.001)
    return is_so()


@pytest.fixture
def a_job() -> Iterator[Job]:
    yield a_python_job("a", "b", fixtures=(b"1", b"2"))


def test_a_dead_lane_is_replaced_and_the_job_tried_again(a_job: Job) -> None:
    """A failure of ours is never a verdict on a program."""
    backend = FakeBackend(lambda header: b"", lambda header: b"", honest)

    with SandboxPool(backend, lane_count=1) as pool:
        outcome = pool.run(a_job)

    assert [one.output for row in outcome for one in row] == [ONE] * 4
    assert len(backend.started) == 3
    assert all(channel.is_closed for channel in backend.started)


def test_a_job_that_fails_in_three_lanes_is_a_fault(a_job: Job) -> None:
    """Somebody must look at this host; a fourth try would hide it."""
    backend = FakeBackend(lambda header: b"")

    with SandboxPool(backend, lane_count=1) as pool, pytest.raises(SandboxFault, match="try again"):
        pool.run(a_job)

    assert len(backend.started) == 3


@pytest.mark.parametrize(
    "lie",
    [
        lambda header: honest(header).replace(b"LSR1", b"XXXX"),
        lambda header: a_result(header, sequence=header.sequence + 1) * 2,
        lambda header: a_result(header, 1) + a_result(header, 0),
        lambda header: a_result(header) + a_result(header, 1, body_bytes=1 << 30),
        lambda header: honest(header)[:-1],
        lambda header: a_result(header, 0),
        lambda header: a_result(header, body=encode_record(Verdict.RETURNED, ONE) * 4, program_count=2),
        lambda header: a_result(header) + a_result(header, 1, program_count=2),
    ],
    ids=["magic", "sequence", "slot", "size", "cut short", "too few", "Python together", "more than there are"],
)
def test_a_frame_that_no_honest_worker_sends_costs_the_lane(lie: Answer, a_job: Job) -> None:
    """An answer that belongs to another program or job would be a wrong verdict."""
    backend = FakeBackend(lie, honest)

    with SandboxPool(backend, lane_count=1) as pool:
        outcome = pool.run(a_job)

    assert [one.verdict for row in outcome for one in row] == [Verdict.RETURNED] * 4
    assert len(backend.started) == 2


def test_bytes_out_of_turn_cost_the_lane(a_job: Job) -> None:
    """Left-over bytes would be read as the next job's answer."""
    backend = FakeBackend(lambda header: honest(header) + b"x", honest)

    with SandboxPool(backend, lane_count=1) as pool:
        pool.run(a_job)
        outcome = pool.run(a_job)

    assert outcome[0][0].output == ONE
    assert len(backend.started) == 2


@pytest.mark.parametrize(
    "body",
    [
        encode_record(Verdict.RETURNED, ONE),
        encode_record(Verdict.RETURNED, ONE) * 3,
        encode_record(Verdict.RETURNED, b"\x01x") * 2,
        encode_record(Verdict.EXCEPTION, b'{"records": 1}') * 2,
        encode_record(Verdict.EXCEPTION, b"A" * 201) * 2,
        encode_record(Verdict.EXCEPTION, b"E5b7b22") * 2,
        encode_record(Verdict.REFUSED_TYPE, b"ValueError") * 2,
        encode_record(Verdict.KILLED, b"SIGKILL") * 2,
        encode_record(Verdict.RETURNED, ONE) * 2 + b"\0",
    ],
    ids=[
        "too few",
        "too many",
        "not canonical",
        "not a name",
        "long detail",
        "no class of the worker",
        "not its word",
        "no runner's verdict",
        "rest",
    ],
)
def test_a_forged_body_is_the_doing_of_its_program(body: bytes, a_job: Job) -> None:
    """Only the forger is blamed, and its lane serves nobody else."""
    backend = FakeBackend(lambda header: a_result(header, body=body) + a_result(header, 1), honest)

    with SandboxPool(backend, lane_count=1) as pool:
        forger, neighbor = pool.run(a_job)
        pool.run(a_job)

    assert [(one.verdict, one.detail) for one in forger] == [(Verdict.KILLED, "forged result")] * 2
    assert [one.verdict for one in neighbor] == [Verdict.RETURNED] * 2
    assert len(backend.started) == 2


@pytest.mark.parametrize(
    "greeting",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        encode_greeting(FACTS | {"protocol_version": 99}),
        encode_greeting({"python_build": "3"}),
        b"LSG1\x02\0\0\0{]",
    ],
)
def test_a_worker_that_greets_otherwise_does_not_start(greeting: bytes) -> None:
    """A server must refuse to serve with a sandbox that it does not know."""
    backend = FakeBackend(FakeChannel(honest, greeting))

    with pytest.raises(SandboxFault), SandboxPool(backend, lane_count=1):
        pass

    assert all(channel.is_closed for channel in backend.started)


def test_a_worker_that_differs_from_the_first_is_refused(a_job: Job) -> None:
    """A certificate names one sandbox; another SQLite may give other bytes."""
    others = [FakeChannel(honest, encode_greeting(FACTS | {"sqlite_source_id": "y"})) for _ in range(2)]
    backend = FakeBackend(lambda header: b"", *others)

    with SandboxPool(backend, lane_count=1) as pool, pytest.raises(SandboxFault, match="differs"):
        pool.run(a_job)


def test_a_lane_is_replaced_after_a_thousand_leases(a_job: Job) -> None:
    """Whatever a worker gathers over time ends with it."""
    backend = FakeBackend(honest)

    with SandboxPool(backend, lane_count=1) as pool:
        for _ in range(1001):
            pool.run(a_job)

    assert len(backend.started) == 2


def test_a_successor_waits_when_a_worker_is_due(a_job: Job) -> None:
    """A job that had to wait for a container would take fifty times as long as its neighbours."""
    backend = FakeBackend(honest)

    with SandboxPool(backend, lane_count=1, lease_count_max=10) as pool:
        for _ in range(9):
            pool.run(a_job)
        is_there = wait_until(lambda: len(backend.started) == 2)

    assert is_there
    assert all(channel.is_closed for channel in backend.started)


def test_a_successor_that_does_not_start_costs_a_try_and_no_job(a_job: Job) -> None:
    """What fails beside a job must not fail the next one."""
    broken = FakeChannel(honest, greeting=b"x" * 64)
    backend = FakeBackend(honest, broken, honest)

    with SandboxPool(backend, lane_count=1, lease_count_max=10) as pool:
        outcomes = [pool.run(a_job) for _ in range(12)]

    assert len(set(outcomes)) == 1
    assert len(backend.started) == 3


def test_many_threads_share_the_lanes(a_job: Job) -> None:
    """A lane serves one job at a time, in strict alternation, whoever asks."""
    backend = FakeBackend(honest)

    with SandboxPool(backend, lane_count=2) as pool, ThreadPoolExecutor(8) as threads:
        outcomes = list(threads.map(lambda number: pool.run(a_job, lane=number % 2 if number % 3 else None), range(99)))

    assert {one.output for outcome in outcomes for row in outcome for one in row} == {ONE}
    assert len(backend.started) == 2


def test_lanes_that_few_programs_need_start_when_one_does(a_job: Job) -> None:
    """Eleven workers beside two are a second under bubblewrap and five in Docker, and most catalogs need none."""
    backend = FakeBackend(honest)

    with SandboxPool(backend, lane_count=2) as pool:
        pool.run(a_job)
        before = list(backend.settings)
        for lane in (*CHANCE_LANES, *CHANCE_LANES):
            pool.run(a_job, lane=lane)

    assert sorted(one.hash_seed for one in before) == [1, 2]
    assert sorted(one.hash_seed for one in backend.settings) == list(range(1, LANE_KINDS + 1))
    assert len({one.shift for one in backend.settings}) == LANE_KINDS
    assert all(channel.is_closed for channel in backend.started)


def test_a_pair_of_lanes_is_like_every_other_pair(a_job: Job) -> None:
    """Which pair serves a family is chance, and a verdict must not hang on it."""
    backend = FakeBackend(honest)

    with SandboxPool(backend, lane_count=6):
        pass

    assert sorted(one.hash_seed for one in backend.settings) == [1, 1, 1, 2, 2, 2]


def test_a_lane_that_does_not_exist_is_refused(a_job: Job) -> None:
    """Two passes on one lane by mistake would prove nothing."""
    with SandboxPool(FakeBackend(honest), lane_count=2) as pool:
        for lane in (-1, 2):
            with pytest.raises(ValueError, match="lane"):
                pool.run(a_job, lane=lane)


def test_a_domain_that_does_not_exist_is_refused() -> None:
    """Nothing is sent for it."""
    with SandboxPool(FakeBackend(honest), lane_count=1) as pool, pytest.raises(ValueError, match="ruby"):
        pool.run(Job("ruby", ("x",), (json.dumps(1).encode(),)))


def test_a_closed_pool_starts_nothing(a_job: Job) -> None:
    """A job that was waiting when the server stopped must not leave a worker behind."""
    backend = FakeBackend(honest)
    pool = SandboxPool(backend, lane_count=1)
    with pool:
        pass

    with pytest.raises(SandboxFault, match="closed"):
        pool.run(a_job)
    assert all(channel.is_closed for channel in backend.started)


def test_a_backend_whose_worker_does_not_start_is_unavailable() -> None:
    """A daemon that answers but cannot start a container must be found before a study begins, not in its middle."""
    backend = FakeBackend(FakeChannel(honest, b"exec format error"))

    with pytest.raises(BackendUnavailable, match="no sandbox worker starts under fake"):
        prove(backend)
    assert backend.started[0].is_closed


def test_a_program_that_is_no_unicode_text_costs_no_lane(a_job: Job) -> None:
    """It cannot be sent; the worker has done nothing wrong."""
    backend = FakeBackend(honest)

    with SandboxPool(backend, lane_count=1) as pool:
        with pytest.raises(ValueError, match="program 1 of a python job holds a lone surrogate"):
            pool.run(dataclasses.replace(a_job, programs=("x", "\ud800")))
        pool.run(a_job)

    assert len(backend.started) == 1


def test_a_successor_that_breaks_in_any_way_is_nobodys_error(a_job: Job) -> None:
    """No job had asked for it: the next one starts a worker of its own."""

    class Breaking(FakeBackend):
        def start_lane(self, settings: LaneSettings) -> FakeChannel:
            if len(self.started) == 1:
                self.started.append(FakeChannel(honest))
                raise RuntimeError("no more memory")
            return super().start_lane(settings)

    backend = Breaking(honest)
    with SandboxPool(backend, lane_count=1, lease_count_max=10) as pool:
        outcomes = [pool.run(a_job) for _ in range(12)]

    assert len(set(outcomes)) == 1
    assert len(backend.started) == 3

"""How much one may ask for at once: refused at once, with the time after which to ask again; health is always told."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_status import rpc_status

from leakscale.v1 import ledger_service_pb2, ledger_service_pb2_grpc
from leakscale_server.errors import QueueFull
from leakscale_server.health import Health
from leakscale_server.identity.bootstrap import BootstrapToken
from leakscale_server.limits import CallLimits
from leakscale_server.services.admission import Admission
from leakscale_server.services.call_executor import CallExecutor
from leakscale_server.services.gate import Gate

TOKEN = "lsk_" + "0" * 64


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def one(admission: Admission, principal: str = "ada", *, is_stream: bool = False) -> Any:
    return admission.one_call(principal, is_stream=is_stream)


def refused(admission: Admission, principal: str = "ada", *, is_stream: bool = False) -> QueueFull:
    with pytest.raises(QueueFull) as caught, one(admission, principal, is_stream=is_stream):
        pass
    return caught.value


def test_one_principal_fills_its_own_place_and_nobody_elses() -> None:
    """Who runs a thousand threads must not stop the next one's audit."""
    admission = Admission(CallLimits(principal_call_count_max=2))
    with one(admission), one(admission):
        assert "principal 'ada' has 2 calls in flight" in refused(admission).message
        with one(admission, "bob"):
            pass
    with one(admission):
        pass


def test_streams_are_counted_for_each_and_for_all() -> None:
    """Each holds a thread for as long as its client likes."""
    admission = Admission(CallLimits(stream_count_max=3, principal_stream_count_max=2))
    with one(admission, is_stream=True), one(admission, is_stream=True):
        assert "principal 'ada' has 2 streams open" in refused(admission, is_stream=True).message
        with one(admission), one(admission, "bob", is_stream=True):
            assert "3 streams are open" in refused(admission, "eve", is_stream=True).message


def test_a_call_that_fails_gives_its_place_back() -> None:
    """Or the server would be full of calls that ended long ago."""
    admission = Admission(CallLimits(principal_call_count_max=1, stream_count_max=1))
    for _ in range(3):
        with pytest.raises(RuntimeError), one(admission, is_stream=True):
            raise RuntimeError
    with one(admission, is_stream=True):
        pass


def test_a_refusal_gives_back_nothing_that_it_had_not_taken() -> None:
    """A count that fell below what is in flight would let in one more for each refusal."""
    admission = Admission(CallLimits(principal_call_count_max=1))
    with one(admission):
        for _ in range(3):
            refused(admission)
    with one(admission):
        refused(admission)


def test_the_rate_is_an_average_with_a_burst_and_says_when_to_come_back() -> None:
    """Two seconds' worth may be saved up; what is over comes by and by."""
    clock = Clock()
    admission = Admission(CallLimits(principal_calls_per_s=2, burst_s=2), monotonic_s=clock)
    for _ in range(4):
        with one(admission):
            pass

    error = refused(admission)
    assert error.message == "principal 'ada' begins more than 2 calls a second; slow down"
    assert error.retry_after_s == 0.5
    with one(admission, "bob"):
        pass
    clock.now_s += 0.5
    with one(admission):
        pass
    refused(admission)
    clock.now_s += 3600
    for _ in range(4):
        with one(admission):
            pass
    refused(admission)


def test_without_a_rate_any_number_of_calls_may_begin() -> None:
    """For a server that one party has for itself."""
    admission = Admission(CallLimits(principal_calls_per_s=0), monotonic_s=Clock())
    for _ in range(10_000):
        with one(admission):
            pass


class Waiting(ledger_service_pb2_grpc.LedgerServiceServicer):
    """Calls that stay until they are let go."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.begun = threading.Semaphore(0)

    def GetLedgerHead(self, request: Any, call: Any) -> Any:  # noqa: N802
        self.begun.release()
        self.release.wait(60)
        return ledger_service_pb2.GetLedgerHeadResponse()


@dataclass(frozen=True)
class Crowded:
    """A server that is full as soon as a few calls came."""

    channel: grpc.Channel
    executor: CallExecutor
    waiting: Waiting
    health: Health


@contextmanager
def a_server(*, thread_count: int, waiting_count_max: int) -> Iterator[Crowded]:
    executor = CallExecutor(thread_count, waiting_count_max=waiting_count_max)
    gate = Gate(BootstrapToken(TOKEN).caller, limits=CallLimits(), executor=executor)
    server = grpc.server(executor, interceptors=[gate])
    waiting, servicer = Waiting(), Health([])
    ledger_service_pb2_grpc.add_LedgerServiceServicer_to_server(waiting, server)
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    servicer.serve()
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with executor, grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        try:
            yield Crowded(channel, executor, waiting, servicer)
        finally:
            waiting.release.set()
            server.stop(5).wait()


def begin(channel: grpc.Channel) -> Any:
    stub: Any = ledger_service_pb2_grpc.LedgerServiceStub(channel)
    metadata = (("authorization", f"Bearer {TOKEN}"),)
    return stub.GetLedgerHead.future(ledger_service_pb2.GetLedgerHeadRequest(), metadata=metadata, timeout=60)


def test_what_does_not_fit_is_refused_at_once_and_the_rest_is_served() -> None:
    """A queue without an end would answer everybody after their deadline."""
    with a_server(thread_count=2, waiting_count_max=1) as server:
        served = [begin(server.channel) for _ in range(3)]
        while not server.executor.is_full:
            time.sleep(0.01)
        errors = [begin(server.channel).exception(timeout=20) for _ in range(3)]
        server.waiting.release.set()

        assert {error.code() for error in errors} == {grpc.StatusCode.RESOURCE_EXHAUSTED}
        status = rpc_status.from_call(errors[0])
        assert status is not None
        retry = error_details_pb2.RetryInfo()
        assert any(detail.Unpack(retry) for detail in status.details if detail.Is(retry.DESCRIPTOR))
        assert retry.retry_delay.ToTimedelta().total_seconds() == 1
        assert [call.exception(timeout=20) for call in served] == [None] * 3


def test_health_is_told_while_every_thread_is_taken_and_watched_by_many() -> None:
    """A supervisor that hears nothing kills a server that works; watchers that hold threads would bring that about."""
    with a_server(thread_count=2, waiting_count_max=0) as server, ExitStack() as stack:
        stub: Any = health_pb2_grpc.HealthStub(server.channel)
        watches = [stub.Watch(health_pb2.HealthCheckRequest()) for _ in range(20)]
        for watch in watches:
            stack.callback(watch.cancel)
            assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
        served = [begin(server.channel) for _ in range(2)]
        for _ in range(2):
            assert server.waiting.begun.acquire(timeout=20)

        assert stub.Check(health_pb2.HealthCheckRequest(), timeout=20).status == health_pb2.HealthCheckResponse.SERVING
        server.health.enter_graceful_shutdown()
        assert {next(watch).status for watch in watches} == {health_pb2.HealthCheckResponse.NOT_SERVING}
        server.waiting.release.set()
        assert [call.exception(timeout=20) for call in served] == [None, None]


def own_name() -> str:
    return threading.current_thread().name


def name_after(event: threading.Event) -> str:
    event.wait(20)
    return own_name()


def wait_until_at_most(executor: CallExecutor, call_count: int) -> None:
    while executor.call_count > call_count:
        time.sleep(0.001)


def test_a_call_goes_to_the_thread_that_became_free_last() -> None:
    """Its stack and data are still at hand; to wake all the others in turn costs every call."""
    with CallExecutor(3, waiting_count_max=0) as executor:
        releases = [threading.Event() for _ in range(3)]
        names = [executor.submit(name_after, event) for event in releases]
        for left, place in ((2, 1), (1, 2), (0, 0)):
            releases[place].set()
            wait_until_at_most(executor, left)
        last = names[0].result(20)
        taken = []
        for _ in range(5):
            taken.append(executor.submit(own_name).result(20))
            wait_until_at_most(executor, 0)

    assert len({name.result() for name in names}) == 3
    assert taken == [last] * 5


def test_calls_that_wait_are_taken_in_their_order_and_before_the_pool_ends() -> None:
    """What was taken in is answered, whoever stops the server."""
    done: list[int] = []
    release = threading.Event()
    with CallExecutor(1, waiting_count_max=8) as executor:
        first = executor.submit(release.wait, 20)
        waiting = [executor.submit(done.append, number) for number in range(4)]
        dropped = waiting[2].cancel()
        counted = executor.call_count
        release.set()

    assert first.result() and dropped
    assert counted == 5
    assert done == [0, 1, 3]
    with pytest.raises(RuntimeError, match="takes no more calls"):
        executor.submit(done.append, 9)


def test_a_call_that_fails_leaves_its_thread_to_the_next() -> None:
    """One thread less with each failure would be none at last."""
    with CallExecutor(1, waiting_count_max=8) as executor:
        failed = executor.submit(int, "no number")
        with pytest.raises(ValueError, match="no number"):
            failed.result(20)

        assert executor.submit(int, "7").result(20) == 7


def test_calls_can_be_dropped_where_nobody_waits_for_them() -> None:
    """Python's own pools can, so whoever stops this one may expect it."""
    release = threading.Event()
    executor = CallExecutor(1, waiting_count_max=8)
    first = executor.submit(release.wait, 20)
    waiting = [executor.submit(int, "7") for _ in range(3)]
    executor.shutdown(wait=False, cancel_futures=True)
    release.set()

    assert first.result(20)
    assert all(future.cancelled() for future in waiting)

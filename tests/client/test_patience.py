"""What the client does when a server is busy: comes back when it was told to, and says everything again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc import error_details_pb2, status_pb2

from leakscale.client import Client
from leakscale.client.patience import Requests
from leakscale.errors import BusyError, DeadlineError, NotFoundError, ServerError, StorageFullError
from leakscale.models import Answer, CertificationRequest, Condition
from leakscale.sealing import HolderKey, seal_pieces
from leakscale.v1 import (
    bank_service_pb2,
    certification_service_pb2,
    enums_pb2,
    grant_service_pb2,
    resources_pb2,
    server_service_pb2,
)

Answering = Callable[[list[bytes]], Iterable[bytes]]
_KINDS = {
    "ServerService/GetServerInfo": grpc.unary_unary_rpc_method_handler,
    "GrantService/RedeemGrant": grpc.unary_stream_rpc_method_handler,
    "BankService/SubmitAnswers": grpc.stream_unary_rpc_method_handler,
    "CertificationService/CertifyFamilies": grpc.stream_stream_rpc_method_handler,
}


# An upload begins with the question what is there already.
NOTHING_THERE: dict[str, Any] = {"ListChunks": grpc.unary_unary_rpc_method_handler(lambda *_: b"")}


def busy(context: grpc.ServicerContext, *, retry_ms: int | None = 10) -> None:
    """End a call as a server does that has no room."""
    details = [AnyMessage(), AnyMessage()]
    reason = "ERROR_REASON_QUEUE_FULL" if retry_ms is not None else "ERROR_REASON_STORAGE_FULL"
    details[0].Pack(error_details_pb2.ErrorInfo(reason=reason, domain="leakscale"))
    if retry_ms is not None:
        retry = error_details_pb2.RetryInfo()
        retry.retry_delay.FromMilliseconds(retry_ms)
        details[1].Pack(retry)
    status = status_pb2.Status(code=8, message="no room", details=details)
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "no room")


@contextmanager
def a_server(
    method: str,
    refuse: Callable[[int, grpc.ServicerContext], None],
    answers: Answering,
    *,
    stream_timeout_s: float = 60.0,
) -> Iterator[Any]:
    """A server whose one method refuses as it is told, then reads all there is and answers. Yields client and log."""
    heard: list[list[bytes]] = []
    make = _KINDS[method]
    is_streamed_to = make in (grpc.stream_unary_rpc_method_handler, grpc.stream_stream_rpc_method_handler)
    is_streamed = make in (grpc.unary_stream_rpc_method_handler, grpc.stream_stream_rpc_method_handler)
    count = iter(range(1_000_000))

    def once(request: Any, context: grpc.ServicerContext) -> bytes:
        refuse(next(count), context)
        heard.append(list(request) if is_streamed_to else [request])
        return next(iter(answers(heard[-1])))

    def many(request: Any, context: grpc.ServicerContext) -> Iterator[bytes]:
        refuse(next(count), context)
        heard.append(list(request) if is_streamed_to else [request])
        yield from answers(heard[-1])

    service, _, name = method.partition("/")
    methods = {**NOTHING_THERE, name: make(many if is_streamed else once)}
    handlers = grpc.method_handlers_generic_handler(f"leakscale.v1.{service}", methods)
    with ThreadPoolExecutor(4) as executor:
        server = grpc.server(executor)
        server.add_generic_rpc_handlers((handlers,))
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        try:
            with Client(f"127.0.0.1:{port}", token="t", timeout_s=20, stream_timeout_s=stream_timeout_s) as client:
                yield client, heard
        finally:
            server.stop(0).wait()


def twice_busy(number: int, context: grpc.ServicerContext) -> None:
    if number < 2:
        busy(context)


def certified(count: int) -> bytes:
    return certification_service_pb2.CertifyFamiliesResponse(
        shape_id="s", condition=enums_pb2.CONDITION_C0, ordinal=count
    ).SerializeToString()


def bank() -> bytes:
    message = resources_pb2.Bank(
        name="experiments/e/banks/b",
        domain=enums_pb2.DOMAIN_SQL,
        state=enums_pb2.MODEL_STATE_BASE,
        ring=enums_pb2.RING_R0,
        phase=enums_pb2.BANK_PHASE_OPEN,
    )
    return bank_service_pb2.SubmitAnswersResponse(bank=message).SerializeToString()


def the_answers(count: int) -> list[Answer]:
    return [Answer(f"f-{number}", 0, "x") for number in range(count)]


def test_a_call_to_a_busy_server_is_repeated() -> None:
    """The server did nothing, so whatever the call is, it may be made again."""
    answer = server_service_pb2.GetServerInfoResponse(version="v").SerializeToString()
    with a_server("ServerService/GetServerInfo", twice_busy, lambda _: [answer]) as (client, heard):
        assert client.server.info().version == "v"
        assert len(heard) == 1


def test_a_busy_server_is_left_when_time_is_up() -> None:
    """Whoever waits should know after the time that they gave."""

    def always(_number: int, context: grpc.ServicerContext) -> None:
        busy(context, retry_ms=60_000)

    with a_server("ServerService/GetServerInfo", always, lambda _: [b""]) as (client, heard):
        with pytest.raises(BusyError, match="no room"):
            client.server.info()
        assert heard == []


def test_a_full_disk_is_not_waited_for() -> None:
    """It has the same code and no time after which it would be otherwise."""
    calls: list[int] = []

    def full(number: int, context: grpc.ServicerContext) -> None:
        calls.append(number)
        busy(context, retry_ms=None)

    with (
        a_server("ServerService/GetServerInfo", full, lambda _: [b""]) as (client, _),
        pytest.raises(StorageFullError, match="no room"),
    ):
        client.server.info()
    assert calls == [0]


def test_an_upload_that_was_refused_is_said_from_the_start() -> None:
    """The iterator of the caller was read already, and cannot be read twice."""
    answers = the_answers(2400)
    with a_server("BankService/SubmitAnswers", twice_busy, lambda _: [bank()]) as (client, heard):
        client.banks.submit("experiments/e/banks/b", (answer for answer in answers))

    requests = [bank_service_pb2.SubmitAnswersRequest.FromString(each) for each in heard[0]]
    assert len(heard) == 1
    assert [answer.family_id for request in requests for answer in request.answers] == [a.family_id for a in answers]


def test_an_upload_that_was_read_too_far_is_not_said_from_the_middle() -> None:
    """Half of it would be taken for the whole."""

    def heard_of(request: Iterator[bytes], context: grpc.ServicerContext) -> bytes:
        list(request)
        busy(context)
        return b""

    handler: Any = grpc.stream_unary_rpc_method_handler(heard_of)
    handlers = grpc.method_handlers_generic_handler(
        "leakscale.v1.BankService", {**NOTHING_THERE, "SubmitAnswers": handler}
    )
    with ThreadPoolExecutor(2) as executor:
        server = grpc.server(executor)
        server.add_generic_rpc_handlers((handlers,))
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        with Client(f"127.0.0.1:{port}", token="t") as client, pytest.raises(BusyError):
            client.banks.submit("experiments/e/banks/b", the_answers(1024 * 40))
        server.stop(0).wait()


def test_a_stream_both_ways_is_said_from_the_start_too() -> None:
    """Certification is the longest of all; to be refused at its start must not end a study."""
    requests = [CertificationRequest("s", Condition.C0, number) for number in range(3)]
    method = "CertificationService/CertifyFamilies"
    with a_server(method, twice_busy, lambda heard: map(certified, range(len(heard)))) as (client, heard):
        outcomes = list(client.families.certify("editions/e", iter(requests)))

    assert [outcome.request.ordinal for outcome in outcomes] == [0, 1, 2]
    assert len(heard) == 1


def test_a_stream_that_hangs_ends_by_its_deadline() -> None:
    """Without one, a server that is stuck would hold a study for ever."""
    release = threading.Event()

    def hang(_number: int, _context: grpc.ServicerContext) -> None:
        release.wait(60)

    requests = [CertificationRequest("s", Condition.C0, 0)]
    with a_server("CertificationService/CertifyFamilies", hang, lambda _: [b""], stream_timeout_s=0.5) as (client, _):
        try:
            with pytest.raises(DeadlineError):
                list(client.families.certify("editions/e", requests))
        finally:
            release.set()


def test_a_stream_that_has_begun_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    """What came already would come twice."""
    key, grant = HolderKey(), "editions/e/grants/g"

    def answers(_heard: list[bytes]) -> Iterator[bytes]:
        piece = next(seal_pieces([b"[]", b"[]"], public_key=key.public, subject=grant))
        yield grant_service_pb2.RedeemGrantResponse(sealed=piece.sealed).SerializeToString()
        raise RuntimeError("broken off")

    with a_server("GrantService/RedeemGrant", lambda *_: None, answers) as (client, heard):
        monkeypatch.setattr(client.grants, "get", lambda _: SimpleNamespace(holder_key=key.public))
        with pytest.raises(ServerError, match="broken off"):
            list(client.grants.redeem(grant, key=key, request_id="r"))
        assert len(heard) == 1


def test_what_the_caller_raises_in_a_stream_comes_out_where_the_call_was_made() -> None:
    """After a refusal too."""

    def source() -> Iterator[Answer]:
        yield from the_answers(1200)
        raise NotFoundError("the file went away")

    with (
        a_server("BankService/SubmitAnswers", twice_busy, lambda _: [bank()]) as (client, _),
        pytest.raises(NotFoundError, match="the file went away"),
    ):
        client.banks.submit("experiments/e/banks/b", source())


def test_an_attempt_that_is_over_takes_nothing_from_the_next() -> None:
    """gRPC's thread may still hang in the caller's iterator when the call was refused long ago."""
    release, waiting = threading.Event(), threading.Event()

    def slow() -> Iterator[int]:
        yield 0
        waiting.set()
        release.wait(20)
        yield 1
        yield 2

    requests = Requests(slow())
    taken: list[int] = []
    old = threading.Thread(target=lambda: taken.extend(requests.attempt()))
    old.start()
    waiting.wait(20)
    again = requests.attempt()
    first_and_rest: list[int] = []
    new = threading.Thread(target=lambda: first_and_rest.extend(again))
    new.start()
    release.set()
    old.join(20)
    new.join(20)

    assert taken == [0]
    assert first_and_rest == [0, 1, 2]

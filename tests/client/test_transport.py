"""What the SDK makes of a failed call that never reached our service, and of what it is given to send."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC
from typing import Any

import grpc
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc import error_details_pb2, status_pb2

from leakscale import errors
from leakscale.client import Client
from leakscale.client.conversion import to_edition, to_outcome
from leakscale.client.transport import Transport
from leakscale.errors import LeakScaleError
from leakscale.v1 import (
    certification_service_pb2,
    enums_pb2,
    ledger_service_pb2,
    ledger_service_pb2_grpc,
    resources_pb2,
)


@contextmanager
def a_server(behavior: Any) -> Iterator[Transport]:
    """A server of another make: whatever it answers, under our method's name."""
    handler: grpc.RpcMethodHandler[Any, Any] = grpc.unary_unary_rpc_method_handler(behavior)
    handlers = grpc.method_handlers_generic_handler("leakscale.v1.LedgerService", {"GetLedgerHead": handler})
    server = grpc.server(ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((handlers,))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    transport = Transport(f"127.0.0.1:{port}", token="t", timeout_s=2)
    try:
        yield transport
    finally:
        transport.close()
        server.stop(0).wait()


def call(transport: Transport) -> object:
    stub = transport.stub(ledger_service_pb2_grpc.LedgerServiceStub)
    return transport.unary(stub.GetLedgerHead, ledger_service_pb2.GetLedgerHeadRequest())


def failure(behavior: Any) -> LeakScaleError:
    with a_server(behavior) as transport, pytest.raises(LeakScaleError) as caught:
        call(transport)
    return caught.value


def aborting(code: grpc.StatusCode, details: str) -> Any:
    def behavior(_request: Any, context: grpc.ServicerContext) -> bytes:
        context.abort(code, details)

    return behavior


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (grpc.StatusCode.UNAVAILABLE, errors.UnavailableError),
        (grpc.StatusCode.DEADLINE_EXCEEDED, errors.DeadlineError),
        (grpc.StatusCode.UNAUTHENTICATED, errors.AuthenticationError),
        (grpc.StatusCode.PERMISSION_DENIED, errors.PermissionDeniedError),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, errors.BusyError),
        (grpc.StatusCode.UNIMPLEMENTED, errors.ServerError),
        (grpc.StatusCode.CANCELLED, errors.UnavailableError),
        (grpc.StatusCode.UNKNOWN, errors.ServerError),
    ],
)
def test_a_failure_without_a_reason_is_told_by_its_code(code: grpc.StatusCode, kind: type[LeakScaleError]) -> None:
    """A proxy, another service on the port, an older server: still one of our classes."""
    assert type(failure(aborting(code, "from elsewhere"))) is kind


def test_a_status_that_contradicts_its_call_is_none() -> None:
    """What a proxy garbled must not end in an exception of the decoder."""

    def behavior(_request: Any, context: grpc.ServicerContext) -> bytes:
        other = status_pb2.Status(code=5, message="another")
        context.set_trailing_metadata((("grpc-status-details-bin", other.SerializeToString()),))
        context.abort(grpc.StatusCode.PERMISSION_DENIED, "this")

    assert type(failure(behavior)) is errors.PermissionDeniedError


def test_a_reason_of_a_newer_server_keeps_its_message() -> None:
    """An unknown reason is a fault of the server, said in the server's words."""

    def behavior(_request: Any, context: grpc.ServicerContext) -> bytes:
        detail = AnyMessage()
        detail.Pack(error_details_pb2.ErrorInfo(reason="ERROR_REASON_OF_TOMORROW", domain="leakscale"))
        status = status_pb2.Status(code=9, message="come back tomorrow", details=[detail])
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, "come back tomorrow")

    error = failure(behavior)

    assert type(error) is errors.ServerError
    assert str(error) == "come back tomorrow"


def test_a_call_that_hangs_ends_by_its_deadline() -> None:
    """A client without one would wait for a server that is stuck for ever."""
    import threading

    release = threading.Event()

    def behavior(_request: Any, _context: grpc.ServicerContext) -> bytes:
        release.wait(20)
        return b""

    with a_server(behavior) as transport, pytest.raises(errors.DeadlineError):
        try:
            call(transport)
        finally:
            release.set()


def test_a_server_that_starts_late_is_waited_for_a_little() -> None:
    """One refused call in a restart is repeated by the channel, if the table says that it may be."""
    answers = iter([grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNAVAILABLE, None])

    def behavior(_request: Any, context: grpc.ServicerContext) -> bytes:
        code = next(answers)
        if code is not None:
            context.abort(code, "starting")
        return b""

    with a_server(behavior) as transport:
        assert call(transport) == ledger_service_pb2.GetLedgerHeadResponse()


def test_an_empty_address_is_refused() -> None:
    """gRPC would try for as long as it is let."""
    with pytest.raises(errors.InvalidRequestError, match="address is empty"):
        Client("", token="t")


def test_times_say_that_they_are_utc() -> None:
    """A naive time is read as local by whoever compares it."""
    message = resources_pb2.Edition(
        name="editions/e", kind=enums_pb2.EDITION_KIND_PRIVATE, phase=enums_pb2.EDITION_PHASE_DRAFT
    )
    message.create_time.FromSeconds(1_700_000_000)

    edition = to_edition(message)

    assert edition.create_time.tzinfo is UTC
    assert edition.create_time.timestamp() == 1_700_000_000
    assert edition.freeze_time is None


def test_a_rejection_is_no_certificate() -> None:
    """One of two, never both and never neither."""
    message = certification_service_pb2.CertifyFamiliesResponse(
        shape_id="s",
        condition=enums_pb2.CONDITION_C2,
        rejection=resources_pb2.Rejection(rule="R", figures=[resources_pb2.Figure(label="n", value=3)]),
    )

    outcome = to_outcome(message)

    assert not outcome.is_certified
    assert outcome.rejection is not None
    assert outcome.rejection.figures == (("n", 3),)


@pytest.mark.parametrize("target", ["127.0.0.1:1", "localhost:1", "[::1]:1", "unix:/tmp/leakscale.sock"])
def test_a_token_may_go_to_this_machine(target: str) -> None:
    """To loopback addresses and UNIX sockets in the clear: nobody listens on the way."""
    Client(target, token="secret").close()

"""Failures on the wire: one reason, one fault of the server, one error of the SDK, and the details of each."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from structlog.testing import capture_logs

from leakscale import errors as sdk_errors
from leakscale.client.transport import Transport
from leakscale.errors import REASONS, InvalidRequestError, LeakScaleError, StorageFullError
from leakscale.v1 import enums_pb2, ledger_service_pb2, ledger_service_pb2_grpc
from leakscale_server import errors as server_errors
from leakscale_server.errors import FAULTS, InvalidRequest, ServerFault
from leakscale_server.identity.bootstrap import BootstrapToken
from leakscale_server.limits import CallLimits
from leakscale_server.services.call_executor import CallExecutor
from leakscale_server.services.gate import Gate

TOKEN = "lsk_" + "0" * 64
DETAILS = {
    grpc.StatusCode.INVALID_ARGUMENT: error_details_pb2.BadRequest,
    grpc.StatusCode.NOT_FOUND: error_details_pb2.ResourceInfo,
    grpc.StatusCode.FAILED_PRECONDITION: error_details_pb2.PreconditionFailure,
}


class Failing(ledger_service_pb2_grpc.LedgerServiceServicer):
    """A service whose one RPC fails as it is told."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def GetLedgerHead(self, request: Any, context: Any) -> Any:  # noqa: N802
        raise self._error


@contextmanager
def failing_server(error: Exception) -> Iterator[Transport]:
    """The real gate in front of a service that fails."""
    executor = CallExecutor(2, waiting_count_max=2)
    gate = Gate(BootstrapToken(TOKEN).caller, limits=CallLimits(), executor=executor)
    server = grpc.server(executor, interceptors=[gate])
    ledger_service_pb2_grpc.add_LedgerServiceServicer_to_server(Failing(error), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    transport = Transport(f"127.0.0.1:{port}", token=TOKEN, timeout_s=20)
    try:
        yield transport
    finally:
        transport.close()
        server.stop(0).wait()


def call(transport: Transport) -> object:
    stub = transport.stub(ledger_service_pb2_grpc.LedgerServiceStub)
    return transport.unary(stub.GetLedgerHead, ledger_service_pb2.GetLedgerHeadRequest())


def failure_of(error: Exception) -> LeakScaleError:
    with failing_server(error) as transport, pytest.raises(LeakScaleError) as caught:
        call(transport)
    return caught.value


def wire_reasons() -> set[int]:
    return set(enums_pb2.ErrorReason.values()) - {enums_pb2.ERROR_REASON_UNSPECIFIED}


def test_every_reason_of_the_wire_has_one_fault_and_one_error() -> None:
    """A reason without a class on either side would arrive as something else."""
    assert sorted(fault.reason for fault in FAULTS) == sorted(wire_reasons())
    assert set(REASONS) == wire_reasons()


@pytest.mark.parametrize("module", [server_errors, sdk_errors])
def test_every_class_is_exported_and_in_the_tree_of_the_docstring(module: Any) -> None:
    """The tree at the top is what people read; a class beside it would be found by accident only."""
    classes = {
        name for name, value in vars(module).items() if isinstance(value, type) and value.__module__ == module.__name__
    }

    assert classes <= set(module.__all__)
    assert [name for name in sorted(classes) if name not in module.__doc__] == []


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_travels_with_its_details_and_becomes_its_error(fault: type[ServerFault]) -> None:
    """Programs decide by reason and details; people read the message. Neither may be lost on the way."""
    error = failure_of(fault("subject, rule, value; next step", subject="field"))

    assert type(error) is REASONS[fault.reason]
    assert str(error) == "subject, rule, value; next step"
    assert isinstance(error.__cause__, grpc.RpcError)
    status = rpc_status.from_call(error.__cause__)  # type: ignore[arg-type]
    assert status is not None
    info = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info)
    assert (info.domain, info.metadata["subject"]) == ("leakscale", "field")
    assert info.reason == enums_pb2.ErrorReason.Name(fault.reason)
    names = {detail.TypeName() for detail in status.details[1:]}
    wanted = {DETAILS[fault.code].DESCRIPTOR.full_name} if fault.code in DETAILS else set()
    if fault.retry_after_s is not None:
        wanted.add("google.rpc.RetryInfo")
    assert names == wanted


def test_only_what_time_cures_says_when_to_come_back() -> None:
    """A client that waits for a disk to grow, or for its own request to become valid, waits for ever."""
    assert {fault.__name__ for fault in FAULTS if fault.retry_after_s is not None} == {"QueueFull", "Unavailable"}


@pytest.mark.parametrize("character", ["x", "ä", "😀"])
def test_a_long_message_arrives_as_the_same_kind_of_error(character: str) -> None:
    """Trailing metadata has 8 KiB; past them the status would be lost and the client would see a broken call."""
    error = failure_of(InvalidRequest(character * 100_000, subject=character * 100_000))

    assert type(error) is InvalidRequestError
    assert str(error).startswith(character * 200)
    assert str(error).endswith("…")


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device", "/srv/data/registry.db"),
        OSError(errno.EDQUOT, "Disk quota exceeded", "/srv/data/registry.db"),
    ],
)
def test_a_full_disk_is_named_without_its_path(error: OSError) -> None:
    """The administrator can act on it; a client learns nothing of the host."""
    failure = failure_of(error)

    assert type(failure) is StorageFullError
    assert "/srv" not in str(failure)


@pytest.mark.parametrize("code", ["SQLITE_FULL", "SQLITE_IOERR_SHMSIZE", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC"])
def test_each_way_in_which_sqlite_meets_a_full_disk_is_one(code: str) -> None:
    """SQLite reports it by what it was doing: writing a table, growing its index of the log, flushing."""
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = getattr(sqlite3, code)

    assert type(failure_of(error)) is StorageFullError


def test_an_unforeseen_exception_says_its_class_and_nothing_else(capfd: pytest.CaptureFixture[str]) -> None:
    """Its text may quote what must stay private; the log has class and place."""
    with capture_logs() as logs:
        error = failure_of(KeyError("the private seed"))

    assert type(error) is sdk_errors.ServerError
    assert str(error) == "the server failed with KeyError; see its log"
    assert [line["place"].rpartition(":")[0] for line in logs] == [__name__]
    shown = capfd.readouterr()
    assert "private seed" not in shown.out + shown.err + str(logs)

"""Which calls the channel repeats: every method of the wire is in the table, and its reason holds."""

from __future__ import annotations

import importlib
import json
import pkgutil
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest

from leakscale import v1
from leakscale.client.retries import METHODS, Repeatable, service_config
from leakscale.client.transport import CHANNEL_OPTIONS

DECLARED = {
    (service.name, method.name): method
    for module in pkgutil.iter_modules(v1.__path__, "leakscale.v1.")
    if module.name.endswith("_service_pb2")
    for service in importlib.import_module(module.name).DESCRIPTOR.services_by_name.values()
    for method in service.methods
}
TABLE = {(service, method): why for service, methods in METHODS.items() for method, why in methods.items()}


def test_every_method_of_the_wire_is_in_the_table() -> None:
    """A new method says whether it may be repeated, or it is not done."""
    assert set(TABLE) == set(DECLARED)


@pytest.mark.parametrize(("service", "method"), TABLE, ids="/".join)
def test_the_reason_is_one_that_the_request_can_keep(service: str, method: str) -> None:
    """A write without an id or a name would be done twice; a stream that gRPC retries may wait for ever."""
    why, declared = TABLE[service, method], DECLARED[service, method]
    fields = {field.name for field in declared.input_type.fields}
    is_stream = declared.client_streaming or declared.server_streaming
    reads = method.startswith(("Get", "List")) or method == "TraceText"  # which names grants and notes nothing

    assert (why is Repeatable.BY_CALLER) == is_stream
    assert (why is Repeatable.READ) == (reads and not is_stream)
    assert (why is Repeatable.BY_REQUEST_ID) <= ("request_id" in fields)
    assert (why is Repeatable.BY_NAME) <= bool(fields & {"name", "edition_id", "experiment_id"})
    assert not ("request_id" in fields and why is Repeatable.BY_NAME)


def test_the_channel_is_told_of_the_table_and_of_nothing_else() -> None:
    """A policy for all methods would repeat what nobody thought about."""
    (config,) = json.loads(service_config())["methodConfig"]

    assert dict(CHANNEL_OPTIONS)["grpc.service_config"] == service_config()
    assert config["retryPolicy"]["retryableStatusCodes"] == ["UNAVAILABLE"]
    assert {(name["service"].removeprefix("leakscale.v1."), name["method"]) for name in config["name"]} == {
        key for key, why in TABLE.items() if why is not Repeatable.BY_CALLER
    }


@pytest.mark.parametrize(
    ("method", "attempt_count"),
    [
        ("leakscale.v1.EditionService/GetFamily", 3),
        ("leakscale.v1.BankService/SealBank", 3),
        ("leakscale.v1.BankService/SubmitAnswers", 1),
        ("leakscale.v1.BankService/EraseEverything", 1),
        ("another.Service/Get", 1),
    ],
)
def test_a_call_is_made_as_often_as_the_table_allows(method: str, attempt_count: int) -> None:
    """What gRPC makes of the configuration is what counts."""
    asked: list[str] = []

    class Refusing(grpc.GenericRpcHandler):
        def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
            asked.append(handler_call_details.method)
            return grpc.unary_unary_rpc_method_handler(
                lambda _, context: context.abort(grpc.StatusCode.UNAVAILABLE, "")
            )

    server = grpc.server(ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((Refusing(),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        with grpc.insecure_channel(f"127.0.0.1:{port}", options=CHANNEL_OPTIONS) as channel:
            call: Any = channel.unary_unary(f"/{method}")
            with pytest.raises(grpc.RpcError):
                call(b"", timeout=20)
    finally:
        server.stop(0).wait()

    assert asked == [f"/{method}"] * attempt_count

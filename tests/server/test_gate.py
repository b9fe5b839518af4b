"""The gate before every handler: scopes first, then the request; and the id that a call keeps on its way."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from leakscale import v1
from leakscale.v1 import ledger_service_pb2, ledger_service_pb2_grpc, resources_pb2
from leakscale_server.errors import TokenRefused
from leakscale_server.identity.caller import Caller
from leakscale_server.identity.methods import METHOD_SCOPES
from leakscale_server.identity.scopes import ROLE_SCOPES, Role, Scope
from leakscale_server.limits import CallLimits
from leakscale_server.services.call import Call
from leakscale_server.services.call_executor import CallExecutor
from leakscale_server.services.gate import Gate

METHOD = "/leakscale.v1.LedgerService/GetLedgerHead"
HOLDERS = {
    "reader": Caller("t-reader", "ada", "north", Role.AUDITOR, frozenset({Scope.LEDGER_READ})),
    "second": Caller("t-second", "eve", "west", Role.TRAINER, frozenset({Scope.LEDGER_READ})),
    "third": Caller("t-third", "mallory", "east", Role.ADMIN, frozenset({Scope.LEDGER_READ})),
    "other": Caller("t-other", "bob", "south", Role.AUTHOR, frozenset({Scope.EDITIONS_READ})),
}


def identify(token: str) -> Caller:
    """Take the holder's name for a token."""
    if token not in HOLDERS:
        raise TokenRefused("the token is nobody's")
    return HOLDERS[token]


class Mirror(ledger_service_pb2_grpc.LedgerServiceServicer):
    """Answers with whom it was called by."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.holds: Callable[[], bool] | None = None
        """Whether what it answers may be given again, to anybody."""

    def GetLedgerHead(self, request: Any, call: Call) -> Any:  # noqa: N802
        self.calls.append(call)
        call.answer_holds = self.holds
        return ledger_service_pb2.GetLedgerHeadResponse(
            head=resources_pb2.LedgerHead(root=call.caller.token_id.encode())
        )


@contextmanager
def a_gate() -> Iterator[tuple[grpc.Channel, Mirror]]:
    executor = CallExecutor(8, waiting_count_max=64)
    gate = Gate(identify, limits=CallLimits(), executor=executor)
    server = grpc.server(executor, interceptors=[gate])
    mirror = Mirror()
    ledger_service_pb2_grpc.add_LedgerServiceServicer_to_server(mirror, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield channel, mirror
    finally:
        server.stop(0).wait()


def ask(channel: grpc.Channel, *, token: str = "", request: bytes = b"", request_id: str = "") -> tuple[bytes, Any]:
    """Send raw bytes to the method; return the answer's bytes and the trailing metadata."""
    metadata = [("authorization", f"Bearer {token}")] if token else []
    metadata += [("x-request-id", request_id)] if request_id else []
    method: Any = channel.unary_unary(METHOD)
    answer, call = method.with_call(request, metadata=metadata, timeout=20)
    return answer, dict(call.trailing_metadata())


def refusal(channel: grpc.Channel, **arguments: Any) -> grpc.Call:
    with pytest.raises(grpc.RpcError) as caught:
        ask(channel, **arguments)
    return caught.value  # type: ignore[return-value]


def test_every_method_of_the_wire_has_its_scope() -> None:
    """A method without a scope opens to nobody; a scope for a method that is gone would hide a typing error."""
    names = [module.name for module in pkgutil.iter_modules(v1.__path__, "leakscale.v1.")]
    modules = [importlib.import_module(name) for name in names if name.endswith("_service_pb2")]
    declared = {
        f"/{service.full_name}/{method.name}"
        for module in modules
        for service in module.DESCRIPTOR.services_by_name.values()
        for method in service.methods
    }

    assert set(METHOD_SCOPES) == declared


def test_an_admin_may_everything_and_no_role_holds_both_ends_of_an_exposure() -> None:
    """Who asks does not approve, and who redeems does not submit: it takes two tokens at least."""
    assert ROLE_SCOPES[Role.ADMIN] == set(Scope)
    for role in set(Role) - {Role.ADMIN}:
        for ends in ({Scope.GRANTS_REQUEST, Scope.GRANTS_APPROVE}, {Scope.GRANTS_REDEEM, Scope.EXPERIMENTS_WRITE}):
            assert not ends <= ROLE_SCOPES[role]


def test_a_handler_is_told_who_calls() -> None:
    """Identity is an argument: nothing else could say it for one of several calls at once."""
    with a_gate() as (channel, mirror):
        ask(channel, token="reader")

    assert [call.caller for call in mirror.calls] == [HOLDERS["reader"]]


def test_callers_at_once_are_never_taken_for_each_other() -> None:
    """Where identity sits in a context variable, one call reads another's under load; here it cannot."""
    mixed: list[str] = []

    def one(number: int, channel: grpc.Channel) -> None:
        holder = ("reader", "second", "third")[number % 3]
        for _ in range(20):
            answer, trailers = ask(channel, token=holder, request_id=f"{holder}-{number}")
            told = ledger_service_pb2.GetLedgerHeadResponse.FromString(answer).head.root.decode()
            if told != f"t-{holder}" or trailers["x-request-id"] != f"{holder}-{number}":
                mixed.append(told)

    with a_gate() as (channel, mirror), ThreadPoolExecutor(32) as threads:
        for done in [threads.submit(one, number, channel) for number in range(32)]:
            done.result(60)

    assert mixed == []
    assert len(mirror.calls) == 640


def test_a_token_without_the_scope_is_refused_before_the_handler() -> None:
    """Which ids exist is nothing that a stranger may find out."""
    with a_gate() as (channel, mirror):
        error = refusal(channel, token="other")

    assert error.code() is grpc.StatusCode.PERMISSION_DENIED
    assert error.details() == (
        "the author token 't-other' does not open GetLedgerHead, which takes the scope ledger:read; use a token that "
        "has it"
    )
    assert mirror.calls == []


@pytest.mark.parametrize(
    ("token", "code"),
    [
        ("", grpc.StatusCode.UNAUTHENTICATED),
        ("nobody", grpc.StatusCode.UNAUTHENTICATED),
        ("other", grpc.StatusCode.PERMISSION_DENIED),
        ("reader", grpc.StatusCode.INVALID_ARGUMENT),
    ],
)
def test_bytes_that_are_no_message_are_read_only_for_who_may_call(token: str, code: grpc.StatusCode) -> None:
    """gRPC would decode first and end in INTERNAL, whoever sent it."""
    with a_gate() as (channel, mirror):
        error = refusal(channel, token=token, request=b"\xff\xff\xff")

    assert error.code() is code
    assert mirror.calls == []


@pytest.mark.parametrize("token", ["reader", "other"])
def test_the_clients_request_id_returns_with_every_answer(token: str) -> None:
    """Whoever reports a failure can name it, and the log has the same name."""
    with a_gate() as (channel, _):
        if token == "reader":
            trailers = ask(channel, token=token, request_id="study-7.a_1")[1]
        else:
            trailers = dict(refusal(channel, token=token, request_id="study-7.a_1").trailing_metadata())

    assert trailers["x-request-id"] == "study-7.a_1"


@pytest.mark.parametrize("request_id", ["", "two words", "x" * 65, 'quote"', "../up"])
def test_a_request_id_that_is_none_is_replaced(request_id: str) -> None:
    """An id stands in log lines: what could break out of one is not taken over."""
    with a_gate() as (channel, _):
        trailers = dict(refusal(channel, token="other", request_id=request_id).trailing_metadata())

    assert re.fullmatch("[0-9a-f]{32}", str(trailers["x-request-id"]))


def test_a_read_that_succeeds_and_was_given_no_id_gets_none() -> None:
    """No line of the log would have it, and trailers cost every look-up a twentieth of its time."""
    with a_gate() as (channel, _):
        assert "x-request-id" not in ask(channel, token="reader")[1]


def test_an_answer_that_is_kept_needs_no_handler_and_opens_no_door() -> None:
    """It is looked for once the caller was let in; before that, whether it is kept must not even show."""
    with a_gate() as (channel, mirror):
        truth = [True]
        mirror.holds = lambda: truth[0]
        answers = {ask(channel, token=token)[0] for token in ("reader", "reader", "second")}
        assert len(mirror.calls) == len(answers) == 1  # it is kept
        codes = [refusal(channel, token=token).code() for token in ("other", "nobody", "")]
        truth[0] = False
        ask(channel, token="reader")

    assert grpc.StatusCode.OK not in codes
    assert codes[0] is grpc.StatusCode.PERMISSION_DENIED
    assert len(mirror.calls) == 2


def test_an_answer_is_not_kept_unless_its_handler_says_so() -> None:
    """What depends on who asks would be told to the next one."""
    with a_gate() as (channel, mirror):
        told = [ask(channel, token=token)[0] for token in ("reader", "second", "reader")]

    assert len(mirror.calls) == 3
    assert told[0] == told[2] != told[1]


def test_the_docs_name_the_methods_and_roles_of_every_scope() -> None:
    """The table is what an administrator decides by."""
    lines = (Path(__file__).parents[2] / "docs" / "server.md").read_text(encoding="utf-8").splitlines()
    told = {cells[1].strip().strip("`"): cells[2:] for line in lines if len(cells := line.split("|")) == 8}

    for scope in Scope:
        names = {method.rpartition("/")[2] for method, taken in METHOD_SCOPES.items() if taken is scope}
        methods, *roles = told[scope][:5]
        assert set(methods.replace(",", " ").split()) == names
        assert [bool(cell.strip()) for cell in roles] == [scope in ROLE_SCOPES[role] for role in Role]

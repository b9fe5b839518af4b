"""What an operator sees: the log of calls, metrics, reflection, and an end without loss."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from structlog.testing import capture_logs

from leakscale.client import Client
from leakscale.client.transport import CHANNEL_OPTIONS
from leakscale.errors import LeakScaleError, UnavailableError
from leakscale.models import Answer
from leakscale.v1 import ledger_service_pb2, ledger_service_pb2_grpc
from leakscale_server.app import serve
from leakscale_server.config import ConfigError
from leakscale_server.errors import NotFound
from leakscale_server.health import SCORER, Health
from leakscale_server.identity.bootstrap import BootstrapToken
from leakscale_server.identity.caller import Caller
from leakscale_server.listening import LISTENER_OPTIONS, bind, new_server
from leakscale_server.metrics import Metrics
from leakscale_server.services.call_executor import CallExecutor
from leakscale_server.services.observing import CallLog, EndedCall

from .helpers import a_frozen_edition, a_plan, answers_to, server_config
from .processes import running, scorer_of, start

TOKEN = "lsk_" + "0" * 64
DRAWS = 256
"""So many that the answers to one bank are more than one message."""


class Failing(ledger_service_pb2_grpc.LedgerServiceServicer):
    """Succeeds, or fails with a text that must stay private."""

    error: Exception | None = None

    def GetLedgerHead(self, request: Any, call: Any) -> Any:  # noqa: N802
        if self.error is not None:
            raise self.error
        return ledger_service_pb2.GetLedgerHeadResponse()


@contextmanager
def a_server(**changes: Any) -> Iterator[tuple[str, Failing, list[EndedCall]]]:
    """The real listener in front of one small service, and what its observers were told."""
    config, ended = server_config(Path("unused"), **changes), list[EndedCall]()
    with CallExecutor(4, waiting_count_max=4) as executor:
        server, _ = new_server(config, executor, BootstrapToken(TOKEN).caller, observers=[CallLog(), ended.append])
        failing = Failing()
        ledger_service_pb2_grpc.add_LedgerServiceServicer_to_server(failing, server)
        target = bind(server, config.listen, credentials=None)
        server.start()
        try:
            yield target, failing, ended
        finally:
            server.stop(0).wait()


def ask(target: str, *, token: str = TOKEN, request_id: str = "") -> None:
    metadata = [("authorization", f"Bearer {token}"), *([("x-request-id", request_id)] if request_id else [])]
    with grpc.insecure_channel(target) as channel:
        stub: Any = ledger_service_pb2_grpc.LedgerServiceStub(channel)
        stub.GetLedgerHead(ledger_service_pb2.GetLedgerHeadRequest(), metadata=metadata, timeout=20)


def test_a_call_that_fails_leaves_one_line_with_its_id_and_without_its_text() -> None:
    """A message may quote what must stay private; who asked for help names the id."""
    with capture_logs() as logs, a_server() as (target, failing, _):
        failing.error = NotFound("family 'secret'")
        with pytest.raises(grpc.RpcError):
            ask(target, request_id="r-7")

    assert logs == [
        {
            "event": "call",
            "log_level": "info",
            "method": "leakscale.v1.LedgerService/GetLedgerHead",
            "request_id": "r-7",
            "principal": "bootstrap",
            "project": "default",
            "token": "bootstrap",
            "code": "NOT_FOUND",
            "reason": "NOT_FOUND",
        }
    ]


def test_a_fault_of_the_server_is_logged_by_class_and_place(caplog: pytest.LogCaptureFixture) -> None:
    """Enough to find it, and nothing of what it held."""
    with capture_logs() as logs, a_server() as (target, failing, _):
        failing.error = RuntimeError("the key is 4711")
        with pytest.raises(grpc.RpcError):
            ask(target, request_id="r-8")

    failed, ended = logs
    assert (failed["event"], failed["request_id"], failed["error"]) == ("call failed", "r-8", "RuntimeError")
    assert failed["place"].startswith(f"{__name__}:")
    assert (ended["code"], ended["reason"]) == ("INTERNAL", "INTERNAL")
    assert "4711" not in json.dumps(logs) + caplog.text


def test_a_token_never_stands_in_the_log() -> None:
    """Neither a good one nor one that is none."""
    with capture_logs() as logs, a_server() as (target, _, _):
        ask(target)
        with pytest.raises(grpc.RpcError):
            ask(target, token="lsk_of-somebody-else")

    assert [line["reason"] for line in logs] == ["TOKEN_REFUSED"]  # a read that succeeded leaves no line
    assert "somebody" not in json.dumps(logs)
    assert TOKEN not in json.dumps(logs)


def test_strangers_cannot_fill_the_log() -> None:
    """Whoever reaches the port can be refused as often as they like; who has a token is written down every time."""
    seconds = iter([1.0] * 50 + [2.0])
    log, caller = CallLog(monotonic_s=lambda: next(seconds)), BootstrapToken(TOKEN).caller(TOKEN)

    def ended(caller: Caller | None) -> EndedCall:
        method = "/leakscale.v1.LedgerService/GetLedgerHead"
        return EndedCall(method, "r", caller, grpc.StatusCode.UNAUTHENTICATED, "TOKEN_REFUSED", 0.0)

    with capture_logs() as logs:
        for _ in range(50):
            log(ended(None))
        first = len(logs)
        log(ended(None))
        for _ in range(50):
            log(ended(caller))

    assert (first, len(logs)) == (10, 61)


def test_every_service_has_its_health_and_unknown_names_leave_nothing_behind() -> None:
    """A balancer may ask for one; a stranger may ask for a million that are none."""
    health = Health(["leakscale.v1.BankService"])
    serving, unknown = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
    health.serve()

    class Context:
        def add_callback(self, _callback: Any) -> None:
            """Nobody leaves here."""

    for name, status in (("", serving), ("leakscale.v1.BankService", serving), ("none", unknown), ("other", unknown)):
        told: list[Any] = []
        health.Watch(health_pb2.HealthCheckRequest(service=name), Context(), told.append)  # type: ignore[arg-type]
        assert [answer.status for answer in told] == [status]
    assert len(vars(health)["_send_response_callbacks"]) == 3


def test_a_scorer_that_is_away_is_told_and_takes_no_read_with_it() -> None:
    """Whoever certifies waits; whoever reads is served, so the server itself is not taken out."""
    health = Health(["leakscale.v1.LedgerService", "leakscale.v1.CertificationService", SCORER])
    serving, not_serving = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING

    def told() -> list[Any]:
        names = ("", "leakscale.v1.LedgerService", "leakscale.v1.CertificationService", SCORER)
        return [health.Check(health_pb2.HealthCheckRequest(service=name), None).status for name in names]  # type: ignore[arg-type]

    health.scorer_changed(False)
    before = told()
    health.serve()
    without = told()
    health.scorer_changed(True)
    whole = told()
    health.enter_graceful_shutdown()
    health.scorer_changed(True)

    assert before == [not_serving] * 4
    assert without == [serving, serving, not_serving, not_serving]
    assert whole == [serving] * 4
    assert told() == [not_serving] * 4


def test_watchers_see_the_scorer_go_and_come_back(tmp_path: Path) -> None:
    """A supervisor need not ask again and again, nor certify something to find out."""
    statuses = health_pb2.HealthCheckResponse
    with running(tmp_path / "data") as server, grpc.insecure_channel(server.target) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        watches = [
            stub.Watch(health_pb2.HealthCheckRequest(service=name), timeout=300)
            for name in (SCORER, "leakscale.v1.CertificationService", "")
        ]
        first = [next(watch).status for watch in watches]
        os.kill(scorer_of(server), signal.SIGKILL)
        gone, back = ([next(watch).status for watch in watches[:2]] for _ in range(2))
        whole = stub.Check(health_pb2.HealthCheckRequest(), timeout=20).status
        server.process.terminate()
        last = [next(watch).status for watch in watches]

    assert first == [statuses.SERVING] * 3
    assert (gone, back, whole) == ([statuses.NOT_SERVING] * 2, [statuses.SERVING] * 2, statuses.SERVING)
    assert last == [statuses.NOT_SERVING] * 3


def test_observers_are_told_how_each_call_ended() -> None:
    """Once for each, whatever its end."""
    with a_server() as (target, failing, ended):
        ask(target)
        failing.error = NotFound("x")
        for token in (TOKEN, "nobody"):
            with pytest.raises(grpc.RpcError):
                ask(target, token=token)

    assert [(call.code.name, call.reason, call.caller is not None) for call in ended] == [
        ("OK", "", True),
        ("NOT_FOUND", "NOT_FOUND", True),
        ("UNAUTHENTICATED", "TOKEN_REFUSED", False),
    ]
    assert all(0 <= call.time_s < 60 for call in ended)


def page(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=20) as answer:
        return str(answer.read().decode())


def test_the_page_counts_calls_by_method_code_and_reason() -> None:
    """And nothing else: no label that a client makes, none that an answer decides."""
    metrics = Metrics(calls_in_hand=lambda: 3)
    caller = BootstrapToken(TOKEN).caller(TOKEN)
    for code, reason in ((grpc.StatusCode.OK, ""), (grpc.StatusCode.OK, ""), (grpc.StatusCode.NOT_FOUND, "NOT_FOUND")):
        metrics.count(EndedCall("/leakscale.v1.BankService/SealBank", "r", caller, code, reason, 0.02))
    with metrics.served(0) as port:
        text = page(port)

    assert 'leakscale_calls_total{code="OK",method="BankService/SealBank",reason=""} 2.0' in text
    assert 'leakscale_calls_total{code="NOT_FOUND",method="BankService/SealBank",reason="NOT_FOUND"} 1.0' in text
    assert 'leakscale_call_seconds_count{method="BankService/SealBank"} 3.0' in text
    assert "leakscale_calls_in_hand 3.0" in text
    assert "bootstrap" not in text


def test_metrics_are_served_to_this_machine_alone() -> None:
    """They need no token."""
    with Metrics(calls_in_hand=lambda: 0).served(0) as port, socket.socket() as other:
        other.settimeout(5)
        with pytest.raises(OSError):
            other.connect(("127.0.0.2", port))
        with (
            pytest.raises(ConfigError, match=f"--metrics-port {port}: it is taken"),
            Metrics(calls_in_hand=lambda: 0).served(port),
        ):
            pass
    with pytest.raises(OSError):
        page(port)


def test_the_page_is_served_where_somebody_says_and_nowhere_else() -> None:
    """A collector in another container reaches no loopback address; nobody else need reach this one."""
    with Metrics(calls_in_hand=lambda: 0).served(0, listen="127.0.0.2") as port:
        with urllib.request.urlopen(f"http://127.0.0.2:{port}/metrics", timeout=20) as answer:
            assert answer.status == 200
        with pytest.raises(OSError):
            page(port)
    with (
        pytest.raises(ConfigError, match=r"--metrics-port 0: it is taken on 192\.0\.2\.1 or cannot be bound"),
        Metrics(calls_in_hand=lambda: 0).served(0, listen="192.0.2.1"),
    ):
        pass


def test_the_clients_pings_are_welcome() -> None:
    """A server with gRPC's own setting cuts a client off that pings in the middle of a long quiet call."""
    client, listener = dict(CHANNEL_OPTIONS), dict(LISTENER_OPTIONS)

    assert client["grpc.keepalive_time_ms"] >= 2 * listener["grpc.http2.min_ping_interval_without_data_ms"]  # type: ignore[operator]
    assert listener["grpc.keepalive_permit_without_calls"] == 1


def services(target: str, token: str) -> list[str]:
    with grpc.insecure_channel(target) as channel:
        stub: Any = reflection_pb2_grpc.ServerReflectionStub(channel)
        asked = iter([reflection_pb2.ServerReflectionRequest(list_services="")])
        (answer,) = stub.ServerReflectionInfo(asked, metadata=[("authorization", f"Bearer {token}")], timeout=20)
        return [service.name for service in answer.list_services_response.service]


def test_reflection_is_off_unless_it_is_asked_for_and_then_takes_a_token() -> None:
    """A tool such as grpcurl needs it; production does not."""
    with a_server() as (target, _, _), pytest.raises(grpc.RpcError) as caught:
        services(target, TOKEN)
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED

    with a_server(reflection=True) as (target, _, _):
        assert "leakscale.v1.EditionService" in services(target, TOKEN)
        with pytest.raises(grpc.RpcError) as caught:
            services(target, "nobody")
    assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED


def test_a_server_tells_how_it_is_limited_and_who_is_asking(tmp_path: Path) -> None:
    """So that a client can plan its work, and a person sees which token they hold."""
    with serve(server_config(tmp_path / "data", metrics_port=0)) as running:
        with Client(running.target, token=running.token) as client:
            info = client.server.info()
        assert running.metrics_port is not None
        assert 'method="ServerService/GetServerInfo"' in page(running.metrics_port)

    assert (info.calls_per_s, info.calls_at_once_max, info.streams_at_once_max) == (500, 48, 16)
    assert info.features == ("metrics",)
    assert (info.principal, info.project, info.role) == ("bootstrap", "default", "admin")
    assert "grants:approve" in info.scopes


def test_a_server_leaves_what_it_loaded_to_itself() -> None:
    """The collector would go through all modules with every few hundred calls."""
    code = (
        "import gc; from leakscale_server.serving import leave_alone_what_is_loaded as leave\n"
        "before = len(gc.get_objects()); leave(); print(gc.get_freeze_count() > 0.9 * before > 10_000)\n"
        "print(len(gc.get_objects()) < 0.1 * before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["True", "True"]


def test_sigterm_tells_watchers_finishes_what_runs_and_loses_nothing(tmp_path: Path) -> None:
    """A deploy in the middle of an upload must not cost an answer that was acknowledged, nor the upload."""
    server = start(tmp_path / "data")
    proceed = threading.Event()
    with server.client() as client:
        edition, _ = a_frozen_edition(client, "drained")
        bank = client.experiments.create(a_plan(edition, "drained", draw_count=DRAWS)).banks[0]
        answers = answers_to(bank, client.editions.families(edition.name), draws=DRAWS)

        def slowly() -> Iterator[Answer]:
            yield from answers[:-1]
            proceed.wait(60)
            yield answers[-1]

        results: list[Any] = []

        def upload() -> None:
            try:
                results.append(client.banks.submit(bank.name, slowly()))
            except LeakScaleError as error:
                results.append(error)

        with grpc.insecure_channel(server.target) as channel:
            stub: Any = health_pb2_grpc.HealthStub(channel)
            watch = stub.Watch(health_pb2.HealthCheckRequest())
            assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
            thread = threading.Thread(target=upload)
            thread.start()
            while not client.banks.chunks(bank.name):
                time.sleep(0.05)
            server.process.terminate()
            assert next(watch).status == health_pb2.HealthCheckResponse.NOT_SERVING
            watch.cancel()
        proceed.set()
        thread.join(60)
        assert [getattr(result, "answered_count", result) for result in results] == [len(answers)]
        with pytest.raises(UnavailableError):
            client.server.info()
    assert server.process.wait(60) == 0
    again = start(tmp_path / "data")
    try:
        with again.client() as client:
            assert client.banks.seal(bank.name).case_count == len(answers)
    finally:
        again.process.terminate()
        assert again.process.wait(60) == 0

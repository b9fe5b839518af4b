"""JSON over HTTP: what HTTP itself is asked, and that the gate stands before it as before gRPC."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from google.protobuf import descriptor_pool
from structlog.testing import capture_logs

from leakscale.v1 import ledger_service_pb2, ledger_service_pb2_grpc
from leakscale_server.certificates import server_credentials
from leakscale_server.config import ConfigError, TlsFiles
from leakscale_server.errors import InvalidRequest, NotFound
from leakscale_server.identity.bootstrap import BootstrapToken
from leakscale_server.json_http import connection
from leakscale_server.json_http.methods import JSON_METHODS, JsonMethod
from leakscale_server.limits import MESSAGE_BYTES_MAX, CallLimits
from leakscale_server.listening import listening, new_server
from leakscale_server.replica.services import EverythingElse
from leakscale_server.services.call_executor import CallExecutor
from leakscale_server.services.observing import CallLog

from .certificates import Authority
from .helpers import server_config

TOKEN = "lsk_" + "0" * 64
HEAD = "/leakscale.v1.LedgerService/GetLedgerHead"
LIST = "/leakscale.v1.LedgerService/ListLedgerEntries"


class Small(ledger_service_pb2_grpc.LedgerServiceServicer):
    """Answers, fails with what it is told to, or waits until it is let go."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.began, self.may_end = threading.Semaphore(0), threading.Event()
        self.may_end.set()

    def GetLedgerHead(self, request: Any, call: Any) -> Any:  # noqa: N802
        self.began.release()
        assert self.may_end.wait(60)
        if self.error is not None:
            raise self.error
        return ledger_service_pb2.GetLedgerHeadResponse()

    def ListLedgerEntries(self, request: Any, call: Any) -> Any:  # noqa: N802
        return ledger_service_pb2.ListLedgerEntriesResponse(next_page_token=str(request.page_size))


@contextmanager
def a_server(*, waiting_count_max: int = 4, **changes: Any) -> Iterator[tuple[str, Small]]:
    """The real listeners in front of one small service; every other method is a replica's."""
    config = server_config(Path("unused"), **{"http_listen": "127.0.0.1:0", **changes})
    small = Small()
    with CallExecutor(2, waiting_count_max=waiting_count_max) as executor:
        server, health = new_server(config, executor, BootstrapToken(TOKEN).caller, observers=[CallLog()])
        ledger_service_pb2_grpc.add_LedgerServiceServicer_to_server(small, server)
        server.add_generic_rpc_handlers([EverythingElse()])
        credentials = server_credentials(config.tls) if config.tls else None
        with listening(config, server, health, credentials=credentials) as (_, target):
            yield f"http{'s' if config.tls else ''}://{target}", small


def ask(url: str, path: str = HEAD, *, body: Any = b"{}", token: str = TOKEN, **headers: str) -> httpx.Response:
    sent = {"content-type": "application/json", **({"authorization": f"Bearer {token}"} if token else {})}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.post(url + path, content=body, headers=sent, timeout=60)


def told(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with a_server(call_limits=CallLimits(principal_calls_per_s=0)) as (url, _):
        yield url


def test_a_call_is_a_post_alone(url: str) -> None:
    """A page that a browser was led to, or a crawler, calls nothing."""
    for verb in ("GET", "HEAD", "PUT", "DELETE", "OPTIONS"):
        response = httpx.request(verb, url + HEAD)
        assert response.status_code == 405
        assert response.headers["allow"] == "POST"
    assert "send a POST" in httpx.get(url + HEAD).json()["message"]


@pytest.mark.parametrize(
    "path", ["/", "/leakscale.v1.LedgerService", "/leakscale.v1.LedgerService/Burn", "/a/b/c", HEAD + "/"]
)
def test_what_is_no_method_is_not_found(url: str, path: str) -> None:
    """As gRPC: unimplemented, whoever asks."""
    assert told(ask(url, path)) == (404, "unimplemented")
    assert told(ask(url, path, token="")) == (404, "unimplemented")


@pytest.mark.parametrize(
    ("headers", "expected", "word"),
    [
        ({"content_type": "application/proto"}, (415, "unimplemented"), "application/json"),
        ({"content_encoding": "gzip"}, (501, "unimplemented"), "identity"),
        ({"connect_protocol_version": "2"}, (400, "invalid_argument"), "send 1"),
        ({"connect_timeout_ms": "soon"}, (400, "invalid_argument"), "10 digits"),
        ({"transfer_encoding": "chunked", "content_length": "2"}, (400, "invalid_argument"), "never both"),
    ],
)
def test_what_http_cannot_carry_is_refused_with_what_it_can(
    url: str, headers: dict[str, str], expected: tuple[int, str], word: str
) -> None:
    """The next step stands in the message."""
    response = ask(url, **headers)

    assert told(response) == expected
    assert word in response.json()["message"]


def test_a_connection_without_a_request_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """There are 256 places. Whoever is served meanwhile stays."""
    monkeypatch.setattr(connection, "HEAD_TIME_S_MAX", 0.5)
    with a_server() as (url, _):
        host, port = url.removeprefix("http://").split(":")
        with (
            socket.create_connection((host, int(port)), timeout=30) as silent,
            socket.create_connection((host, int(port)), timeout=30) as slow,
            httpx.Client(headers={"authorization": f"Bearer {TOKEN}"}) as patient,
        ):
            slow.sendall(b"POST / HTTP/1.1\r\nHo")
            assert (silent.recv(1), slow.recv(1)) == (b"", b"")
            assert patient.post(url + HEAD, json={}).status_code == 200


def test_connects_own_headers_are_taken(url: str) -> None:
    """A client that Connect's generators wrote sends them with every call."""
    response = ask(
        url,
        content_type="application/json; charset=utf-8",
        connect_protocol_version="1",
        connect_timeout_ms="60000",
    )

    assert (response.status_code, response.json()) == (200, {})
    assert response.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (b"", "no JSON object"),
        (b"[]", "no JSON object"),
        (b"5", "no JSON object"),
        (b"\xff\xfe\xfd", "no JSON object"),
        (b"[" * 100_000, "no JSON object"),
        (b'{"pageSise": 1}', "pageSise"),
        (b'{"\\ud800": 1}', "Failed to parse"),
        (b'{"pageSize": "\\ud800"}', "pageSize"),
        (b'{"pageToken": "\\ud800"}', "Unpaired surrogate"),
        (b'{"pageSize": "many"}', "pageSize"),
        (b'{"pageSize": 1, "pageSize": 2}', "pageSize"),
    ],
)
def test_a_body_that_is_no_request_is_told_so_to_who_may_call(url: str, body: bytes, word: str) -> None:
    """A misspelt field would otherwise be left out in silence. Who may not call hears nothing of it."""
    response = ask(url, LIST, body=body)

    assert told(response) == (400, "invalid_argument")
    assert word in response.json()["message"]
    assert "send its fields as one JSON object" in response.json()["message"]
    assert told(ask(url, LIST, body=body, token="")) == (401, "unauthenticated")
    assert told(ask(url, LIST, body=body, token="lsk_other")) == (401, "unauthenticated")


@pytest.mark.parametrize("method", JSON_METHODS.values(), ids=JSON_METHODS)
def test_a_field_of_the_wrong_kind_is_an_invalid_request_in_every_method(method: JsonMethod) -> None:
    """And never a fault of the server's, whatever the library makes of it."""
    name = method.path.removeprefix("/").replace("/", ".")
    described: Any = descriptor_pool.Default().FindMethodByName(name)
    junk: tuple[Any, ...] = (True, 7, -1, 1e400, "§", [], [7], [[]], [None], {}, {"a": 7}, {"a": {"b": []}})
    refused_count = 0
    for field in described.input_type.fields:
        for value in junk:
            try:
                method.decode(json.dumps({field.name: value}).encode())
            except InvalidRequest as refused:
                refused_count += 1
                assert "send its fields" in refused.message
    assert refused_count >= len(described.input_type.fields)


def test_both_spellings_of_a_field_are_read(url: str) -> None:
    """The proto's and JSON's; answers have JSON's."""
    for field in ("page_size", "pageSize"):
        assert ask(url, LIST, body=f'{{"{field}": 7}}').json() == {"nextPageToken": "7"}


def test_a_body_is_as_long_as_a_grpc_message_may_be(url: str) -> None:
    """And a longer one is dropped while it arrives."""
    fits = b"{}".ljust(MESSAGE_BYTES_MAX)

    assert ask(url, body=fits).status_code == 200
    assert told(ask(url, body=fits + b" ")) == (429, "resource_exhausted")
    assert str(MESSAGE_BYTES_MAX) in ask(url, body=fits + b" ").json()["message"]


def test_a_stranger_is_told_how_to_be_somebody(url: str) -> None:
    """HTTP has a header for it."""
    assert ask(url, token="").headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("token", [TOKEN, "lsk_other"])
def test_the_request_id_returns_in_a_header(url: str, token: str) -> None:
    """Of an answer and of an error."""
    assert ask(url, token=token, x_request_id="r-9").headers["x-request-id"] == "r-9"


def test_an_error_without_a_request_id_gets_one(url: str) -> None:
    """Its line in the log has the same."""
    assert len(ask(url, token="lsk_other", x_request_id="two words").headers["x-request-id"]) == 32


def test_health_is_told_without_a_token(url: str) -> None:
    """A supervisor has none."""
    assert ask(url, "/grpc.health.v1.Health/Check", token="").json() == {"status": "SERVING"}
    unknown = ask(url, "/grpc.health.v1.Health/Check", body=b'{"service": "none"}', token="")
    assert told(unknown) == (404, "not_found")
    assert told(ask(url, "/grpc.health.v1.Health/Check", body=b"no", token="")) == (400, "invalid_argument")


def test_a_replica_says_that_it_only_reads(url: str) -> None:
    """Its handler for what it does not have is one for streams, and the method is not."""
    response = ask(url, "/leakscale.v1.EditionService/FreezeEdition")

    assert told(response) == (400, "failed_precondition")
    assert "replica" in response.json()["message"]


def test_a_call_by_http_leaves_the_line_in_the_log_that_grpc_leaves() -> None:
    """Without the text of an error, which stays here where it is none of ours."""
    with capture_logs() as logs, a_server() as (url, small):
        small.error = NotFound("family 'secret'")
        assert told(ask(url, x_request_id="r-7")) == (404, "not_found")
        small.error = RuntimeError("the key is 4711")
        broken = ask(url, x_request_id="r-8")

    assert told(broken) == (500, "internal")
    assert "4711" not in broken.text
    calls = [line for line in logs if line["event"] == "call"]
    assert [(line["request_id"], line["code"], line["principal"]) for line in calls] == [
        ("r-7", "NOT_FOUND", "bootstrap"),
        ("r-8", "INTERNAL", "bootstrap"),
    ]
    assert "secret" not in str(logs)
    assert "4711" not in str(logs)


def test_who_calls_too_often_is_told_when_to_come_back() -> None:
    """The limit is that of the principal, by both ways together."""
    with a_server(call_limits=CallLimits(principal_calls_per_s=0.5, burst_s=2)) as (url, _):
        assert ask(url).status_code == 200
        response = ask(url)

    assert told(response) == (429, "resource_exhausted")
    assert int(response.headers["retry-after"]) >= 1


def test_a_full_server_refuses_by_http_too() -> None:
    """Calls of both ways share the threads; nobody waits in silence."""
    with ThreadPoolExecutor(2) as threads, a_server(waiting_count_max=0) as (url, small):
        small.may_end.clear()
        running = [threads.submit(ask, url) for _ in range(2)]
        for _ in running:
            assert small.began.acquire(timeout=60)
        refused, health = ask(url), ask(url, "/grpc.health.v1.Health/Check", token="")
        small.may_end.set()

        assert told(refused) == (429, "resource_exhausted")
        assert health.json() == {"status": "SERVING"}
        assert [each.result().status_code for each in running] == [200, 200]


def test_a_call_ends_at_its_deadline() -> None:
    """The client gave it, and does not wait longer; what the handler began goes on."""
    with a_server() as (url, small):
        small.may_end.clear()
        assert told(ask(url, connect_timeout_ms="50")) == (504, "deadline_exceeded")
        small.may_end.set()
        assert ask(url).status_code == 200


def test_a_server_that_stops_answers_what_it_began() -> None:
    """As by gRPC: an answer that was as good as there is not lost."""
    with ThreadPoolExecutor(1) as threads:
        with a_server() as (url, small):
            small.may_end.clear()
            asked = threads.submit(ask, url)
            assert small.began.acquire(timeout=60)
            threading.Timer(0.5, small.may_end.set).start()
        assert asked.result().status_code == 200
    with pytest.raises(httpx.ConnectError):
        ask(url)


@pytest.mark.parametrize(
    ("listen", "word"),
    [
        ("0.0.0.0:8080", "tokens would travel in the clear"),
        ("unix:/tmp/x", "host:port"),
        ("127.0.0.1:http", "0 to 65535"),
    ],
)
def test_an_address_that_cannot_serve_is_refused_by_option(listen: str, word: str) -> None:
    """The rules of --listen hold for both."""
    with pytest.raises(ConfigError, match=word) as caught:
        server_config(Path("unused"), http_listen=listen).check()

    assert str(caught.value).startswith(f"--http-listen {listen}: ")


def test_an_address_that_is_taken_is_named() -> None:
    """And the gRPC listener goes with it."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        refused = pytest.raises(ConfigError, match=f"--http-listen {listen}: the address is taken")
        with refused, a_server(http_listen=listen):
            pass


def test_http_speaks_tls_with_the_same_files_and_takes_renewed_ones(tmp_path: Path) -> None:
    """Off loopback nothing else is spoken there; a renewal needs no restart."""
    authority = Authority(tmp_path)
    pair = authority.issue("server")
    trusting = ssl.create_default_context(cafile=str(authority.file))
    files = TlsFiles(pair.certificate, pair.key)

    def served(url: str) -> str:
        host, _, port = url.removeprefix("https://").rpartition(":")
        return ssl.get_server_certificate((host, int(port)))

    with a_server(tls=files) as (url, _):
        sent: dict[str, Any] = {"headers": {"authorization": f"Bearer {TOKEN}"}, "json": {}, "timeout": 60}
        assert httpx.post(url + HEAD, verify=trusting, **sent).status_code == 200
        with pytest.raises(httpx.TransportError):
            httpx.post(url.replace("https", "http") + HEAD, **sent)
        before = served(url)
        pair.key.write_bytes(authority.issue("other").key.read_bytes())
        assert served(url) == before
        authority.issue("server")
        assert served(url) != before
        assert httpx.post(url + HEAD, verify=trusting, **sent).status_code == 200


def test_http_asks_for_certificates_where_grpc_does(tmp_path: Path) -> None:
    """In addition to the token."""
    authority = Authority(tmp_path)
    pair, mine = authority.issue("server"), authority.issue("client")
    trusting = ssl.create_default_context(cafile=str(authority.file))
    showing = ssl.create_default_context(cafile=str(authority.file))
    showing.load_cert_chain(mine.certificate, mine.key)
    sent: dict[str, Any] = {"headers": {"authorization": f"Bearer {TOKEN}"}, "json": {}, "timeout": 60}

    with a_server(tls=TlsFiles(pair.certificate, pair.key, client_ca=authority.file)) as (url, _):
        assert httpx.post(url + HEAD, verify=showing, **sent).status_code == 200
        with pytest.raises(httpx.TransportError):
            httpx.post(url + HEAD, verify=trusting, **sent)

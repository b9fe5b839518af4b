"""TLS: who may listen where, what is trusted, and renewal under a running server and a running client."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from leakscale.cli.entry import run
from leakscale.client import Client, Tls
from leakscale.errors import InvalidRequestError, LeakScaleError, UnavailableError
from leakscale.v1 import server_service_pb2, server_service_pb2_grpc
from leakscale_server.app import serve
from leakscale_server.certificates import server_credentials
from leakscale_server.config import ConfigError, TlsFiles
from leakscale_server.identity.bootstrap import BootstrapToken
from leakscale_server.listening import bind, new_server
from leakscale_server.services.call_executor import CallExecutor

from .certificates import Authority, Pair
from .helpers import server_config

TOKEN = "lsk_" + "0" * 64


class Server(server_service_pb2_grpc.ServerServiceServicer):
    """Says that it is there."""

    def GetServerInfo(self, request: Any, call: Any) -> Any:  # noqa: N802
        return server_service_pb2.GetServerInfoResponse(version="here")


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@contextmanager
def listening(files: TlsFiles | None, *, host: str = "127.0.0.1") -> Iterator[str]:
    """The real listener and gate in front of one small service."""
    config = server_config(Path("unused"), listen=f"{host}:0", tls=files)
    with CallExecutor(4, waiting_count_max=4) as executor:
        server, _ = new_server(config, executor, BootstrapToken(TOKEN).caller, observers=[])
        server_service_pb2_grpc.add_ServerServiceServicer_to_server(Server(), server)
        target = bind(server, config.listen, credentials=server_credentials(files) if files else None)
        server.start()
        try:
            yield target
        finally:
            server.stop(0).wait()


def version(target: str, tls: Tls | None) -> str:
    with Client(target, token=TOKEN, tls=tls, timeout_s=20) as client:
        return client.server.info().version


def refusal(target: str, tls: Tls | None) -> str:
    with pytest.raises(UnavailableError) as caught:
        version(target, tls)
    return str(caught.value)


def served_certificate(target: str) -> str:
    host, _, port = target.rpartition(":")
    return ssl.get_server_certificate((host, int(port)))


def test_a_server_for_other_machines_serves_under_its_certificate(authority: Authority, tmp_path: Path) -> None:
    """The whole server, by the client and by a command."""
    pair = authority.issue("server")
    config = server_config(tmp_path / "data", listen="0.0.0.0:0", tls=TlsFiles(pair.certificate, pair.key))

    with serve(config) as running, Client(running.target, token=running.token, tls=Tls(authority.file)) as client:
        assert client.server.info().lane_count == 2
        options = ["--server", running.target, "--token", running.token, "--ca", str(authority.file)]
        assert run(["server", "status", *options]) == 0


def test_a_token_leaves_this_machine_under_tls_alone() -> None:
    """Whoever listens on the way, or in the place of the server, must not be able to be us from then on."""
    heard: list[bytes] = []
    with socket.create_server(("0.0.0.0", 0)) as listener:

        def hear() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                connection.settimeout(1)
                with connection:
                    heard.append(connection.recv(65536))

        thread = threading.Thread(target=hear)
        thread.start()
        with pytest.raises(LeakScaleError):
            version(f"0.0.0.0:{listener.getsockname()[1]}", None)
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(20)

    assert heard
    assert all(each[:2] == b"\x16\x03" for each in heard)  # the first bytes of a handshake
    assert not any(TOKEN.encode() in each for each in heard)


def test_what_is_not_trusted_gets_no_call(authority: Authority, tmp_path: Path) -> None:
    """With the next step, which differs: another authority, no TLS on one side, another name."""
    pair = authority.issue("server")
    stranger = Authority(tmp_path, "stranger")

    with listening(TlsFiles(pair.certificate, pair.key)) as target:
        assert version(target, Tls(authority.file)) == "here"
        assert "is not trusted, or is for another name; pass --ca" in refusal(target, Tls(stranger.file))
        assert "hangs up on us; if it speaks TLS, pass --ca" in refusal(target, None)
    with listening(None) as target:
        assert "speaks no TLS, and no token is sent in the clear" in refusal(target, Tls(authority.file))
    with listening(TlsFiles(pair.certificate, pair.key), host="127.0.0.2") as other_name:
        assert "is for another name" in refusal(other_name, Tls(authority.file))


def test_a_server_that_asks_for_certificates_takes_its_own_authoritys(authority: Authority, tmp_path: Path) -> None:
    """The token is asked for as well."""
    pair, mine = authority.issue("server"), authority.issue("client")
    theirs = Authority(tmp_path, "stranger").issue("stranger-client")

    with listening(TlsFiles(pair.certificate, pair.key, client_ca=authority.file)) as target:
        assert version(target, Tls(authority.file, mine.certificate, mine.key)) == "here"
        for tls in (Tls(authority.file), Tls(authority.file, theirs.certificate, theirs.key)):
            assert "--client-certificate" in refusal(target, tls)


def test_a_renewed_certificate_is_served_without_a_restart(authority: Authority) -> None:
    """Certificates of today live for days, and a scoring run may live longer."""
    pair = authority.issue("server")

    with listening(TlsFiles(pair.certificate, pair.key)) as target:
        with Client(target, token=TOKEN, tls=Tls(authority.file)) as client:
            assert client.server.info().version == "here"
            before = served_certificate(target)
            authority.issue("server")
            after = served_certificate(target)
            assert client.server.info().version == "here"
        assert version(target, Tls(authority.file)) == "here"

    assert before != after


@pytest.mark.parametrize("damage", ["the key of another", "nothing", "no PEM", "an expired one"])
def test_a_renewal_that_went_wrong_leaves_the_former_certificate(authority: Authority, damage: str) -> None:
    """A server that stopped answering because a file was half written would be down until somebody looks."""
    pair = authority.issue("server")

    with listening(TlsFiles(pair.certificate, pair.key)) as target:
        before = served_certificate(target)
        if damage == "the key of another":
            pair.key.write_bytes(authority.issue("other").key.read_bytes())
        elif damage == "nothing":
            pair.certificate.unlink()
        elif damage == "no PEM":
            pair.certificate.write_bytes(b"half a certi")
        else:
            authority.issue("server", lifetime=timedelta(days=-1))

        assert served_certificate(target) == before
        assert version(target, Tls(authority.file)) == "here"
        authority.issue("server")
        assert served_certificate(target) != before


def test_a_client_shows_its_renewed_certificate(authority: Authority, tmp_path: Path) -> None:
    """gRPC would go on with the one that it was opened with; files that do not fit for a moment change nothing."""
    pair = authority.issue("server")
    client_pair = Authority(tmp_path, "stranger").issue("client")
    tls = Tls(authority.file, client_pair.certificate, client_pair.key)

    with (
        listening(TlsFiles(pair.certificate, pair.key, client_ca=authority.file)) as target,
        Client(target, token=TOKEN, tls=tls) as client,
    ):
        with pytest.raises(UnavailableError):
            client.server.info()
        authority.issue("client")
        assert client.server.info().version == "here"
        client_pair.key.write_bytes(b"half a ke")
        assert client.server.info().version == "here"


def _files(pair: Pair, **changes: Any) -> TlsFiles:
    return TlsFiles(**{"certificate": pair.certificate, "key": pair.key, **changes})


def test_files_that_cannot_serve_are_refused_by_option(authority: Authority, tmp_path: Path) -> None:
    """Before a sandbox starts, and with the file's name."""
    pair, other = authority.issue("server"), authority.issue("other")
    expired = authority.issue("expired", lifetime=timedelta(days=-1))
    text = tmp_path / "text"
    text.write_text("hello")
    cases = [
        (_files(pair, key=other.key), "other.key: it is not the key of"),
        (_files(pair, certificate=tmp_path / "none"), "none cannot be read"),
        (_files(pair, certificate=text), "--tls-certificate .*text: it is no PEM file"),
        (_files(pair, key=text), "--tls-key .*text: it is no PEM file"),
        (_files(pair, client_ca=text), "--tls-client-ca .*text: it is no PEM file"),
        (_files(expired), "is valid from .* only, and not now; renew it"),
    ]
    for files, words in cases:
        config = server_config(tmp_path / "data", listen="0.0.0.0:0", tls=files)
        with pytest.raises(ConfigError, match=words), serve(config):
            pass

    assert not (tmp_path / "data").exists()


def test_files_that_a_client_cannot_use_are_refused_by_option(authority: Authority, tmp_path: Path) -> None:
    """gRPC would say that it cannot connect."""
    pair, other = authority.issue("client"), authority.issue("other")
    text = tmp_path / "text"
    text.write_text("hello")
    cases: list[tuple[tuple[Path | None, ...], str]] = [
        ((tmp_path / "none",), "none cannot be read"),
        ((text,), "--ca .*text: it holds no PEM certificate"),
        ((authority.file, pair.certificate), "go together; pass --client-certificate and --client-key"),
        ((authority.file, pair.certificate, other.key), "they are no pair of PEM files"),
        ((authority.file, pair.certificate, text), "they are no pair of PEM files"),
    ]
    for files, words in cases:
        with pytest.raises(InvalidRequestError, match=words):
            Client("127.0.0.1:1", token="t", tls=Tls(*files))
    with pytest.raises(InvalidRequestError, match="speaks no TLS; leave --ca out"):
        Client("unix:/tmp/x", token="t", tls=Tls(authority.file))

"""TLS certificates of a server, read again when their files change: no restart when they are renewed."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar, cast

import grpc
import structlog
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes

from leakscale_server.config import ConfigError, TlsFiles

__all__ = ["server_credentials", "server_tls_context"]

_log = structlog.get_logger()
T = TypeVar("T")
_Stamp = tuple[tuple[int, int, int], ...]


def server_credentials(files: TlsFiles) -> grpc.ServerCredentials:
    """Return credentials that follow their files. With a client CA, a client without its certificate gets nowhere.

    Raises:
        ConfigError: If a file cannot be read, the key is not the certificate's, or the certificate is not valid today.
    """
    follower = _Follower(files)

    def fetch() -> grpc.ServerCertificateConfiguration | None:
        contents = follower.changed()
        return None if contents is None else contents.configuration()

    return grpc.dynamic_ssl_server_credentials(
        follower.first.configuration(),
        # The stubs do not know that None means: as before.
        cast(Callable[[], grpc.ServerCertificateConfiguration], fetch),
        require_client_authentication=files.client_ca is not None,
    )


def server_tls_context(files: TlsFiles) -> ssl.SSLContext:
    """Return the same for a listener that is not gRPC's.

    Raises:
        ConfigError: As `server_credentials`.
    """
    follower = _Follower(files)
    context = current = _tls_context(files, follower.first)

    def on_handshake(connection: ssl.SSLObject | ssl.SSLSocket, _name: str | None, _context: ssl.SSLContext) -> None:
        nonlocal current
        if (contents := follower.changed()) is not None:
            current = _tls_context(files, contents)
        connection.context = current

    # OpenSSL asks on every handshake, also where the client names no host.
    context.sni_callback = on_handshake
    return context


def _tls_context(files: TlsFiles, contents: _Contents) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.certificate, files.key)
    if contents.client_ca is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=contents.client_ca.decode("ascii"))
    return context


@dataclass(frozen=True, slots=True)
class _Contents:
    """What the files hold."""

    certificate: bytes
    key: bytes
    client_ca: bytes | None

    def configuration(self) -> grpc.ServerCertificateConfiguration:
        return grpc.ssl_server_certificate_configuration([(self.key, self.certificate)], self.client_ca)


class _Follower:
    """Looks at the files on every handshake, and reads them when one of them is another than before.

    What does not fit together (a new certificate beside the old key, in the middle of a renewal) is not taken: the
    server goes on with what it has, says so once, and looks again at the next handshake.
    """

    def __init__(self, files: TlsFiles) -> None:
        self._files = files
        self._lock = threading.Lock()
        self._stamp = self._look()
        self.first = _read(files)

    def changed(self) -> _Contents | None:
        """Return the new contents if there are some. gRPC calls this from threads of its own."""
        with self._lock:
            stamp = self._look()
            if stamp == self._stamp:
                return None
            self._stamp = stamp
            try:
                contents = _read(self._files)
            except ConfigError as error:
                _log.warning("certificates are not taken; the former ones stay", reason=str(error))
                return None
            _log.info("certificates are renewed")
            return contents

    def _look(self) -> _Stamp:
        return tuple(_stamp(path) for path in self._files.paths())


def _stamp(path: Path) -> tuple[int, int, int]:
    """Return what changes when a file does; a file that is not there is a state like another."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0, 0
    return status.st_ino, status.st_size, status.st_mtime_ns


def _read(files: TlsFiles) -> _Contents:
    certificate, key = _bytes(files.certificate), _bytes(files.key)
    leaf = _parsed(x509.load_pem_x509_certificates, certificate, f"--tls-certificate {files.certificate}")[0]
    private = _parsed(_private_key, key, f"--tls-key {files.key}")
    if leaf.public_key() != private.public_key():
        raise ConfigError(f"--tls-key {files.key}: it is not the key of {files.certificate}; give the two of one pair")
    now = datetime.now(UTC)
    if not leaf.not_valid_before_utc <= now <= leaf.not_valid_after_utc:
        raise ConfigError(
            f"--tls-certificate {files.certificate}: it is valid from {leaf.not_valid_before_utc:%Y-%m-%d} to "
            f"{leaf.not_valid_after_utc:%Y-%m-%d} only, and not now; renew it"
        )
    if files.client_ca is None:
        return _Contents(certificate, key, None)
    client_ca = _bytes(files.client_ca)
    _parsed(x509.load_pem_x509_certificates, client_ca, f"--tls-client-ca {files.client_ca}")
    return _Contents(certificate, key, client_ca)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"certificate file {path} cannot be read ({error.strerror}); check the path") from error


def _parsed(parse: Callable[[bytes], T], content: bytes, option: str) -> T:
    try:
        return parse(content)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"{option}: it is no PEM file of the right kind, without a password; convert it") from error


def _private_key(content: bytes) -> PrivateKeyTypes:
    return serialization.load_pem_private_key(content, password=None)

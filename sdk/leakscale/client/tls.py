"""What a client trusts, and what it shows, where it speaks TLS."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path

import grpc

from leakscale.errors import InvalidRequestError

__all__ = ["Tls"]

Stamp = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Tls:
    """PEM files of a client. They are read again when they change, so certificates may be renewed under it."""

    ca: Path | str | None = None
    """Authorities that the server's certificate must come from; None: those that gRPC trusts."""
    certificate: Path | str | None = None
    """The client's own certificate first, then those up to the authority, where the server asks for one."""
    key: Path | str | None = None
    """Private key of the first certificate, without a password."""

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.key is None):
            raise InvalidRequestError(
                "a client's certificate and its key go together; pass --client-certificate and --client-key"
            )

    def stamp(self) -> Stamp:
        """Return what changes when a file does.

        Raises:
            InvalidRequestError: If a file is not there.
        """
        return tuple(_stamp(path) for path in (self.ca, self.certificate, self.key) if path is not None)

    def credentials(self) -> grpc.ChannelCredentials:
        """Read the files.

        Raises:
            InvalidRequestError: If one cannot be read or holds no PEM.
        """
        self._check()
        return grpc.ssl_channel_credentials(_bytes(self.ca), _bytes(self.key), _bytes(self.certificate))

    def _check(self) -> None:
        # gRPC says of a bad file no more than that it cannot connect.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        try:
            if self.ca is not None:
                context.load_verify_locations(cafile=self.ca)
        except (ssl.SSLError, OSError) as error:
            raise InvalidRequestError(f"--ca {self.ca}: it holds no PEM certificate ({_said(error)})") from error
        try:
            if self.certificate is not None:
                context.load_cert_chain(self.certificate, self.key, password=_no_password)
        except (ssl.SSLError, OSError, ValueError) as error:
            raise InvalidRequestError(
                f"--client-certificate {self.certificate} and --client-key {self.key}: they are no pair of PEM files "
                f"without a password ({_said(error)})"
            ) from error


def _no_password() -> str:
    raise ValueError("it has a password")


def _stamp(path: Path | str) -> tuple[int, int, int]:
    try:
        status = Path(path).stat()
    except OSError as error:
        raise InvalidRequestError(f"certificate file {path} cannot be read ({error.strerror}); check it") from error
    return status.st_ino, status.st_size, status.st_mtime_ns


def _bytes(path: Path | str | None) -> bytes | None:
    return None if path is None else Path(path).read_bytes()


def _said(error: Exception) -> str:
    reason = error.reason if isinstance(error, ssl.SSLError) else None
    return reason or getattr(error, "strerror", None) or str(error)

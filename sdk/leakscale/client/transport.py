"""The channel under a client: token, deadlines, retries, and the one place where failures become our errors."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, Final, TypeVar

import grpc

from leakscale.addresses import is_local
from leakscale.client.channels import Channels, Stub
from leakscale.client.tls import Tls
from leakscale.errors import InvalidRequestError, from_rpc_error

__all__ = ["Transport"]

T = TypeVar("T")

_TOKEN: Final = re.compile(r"[\x21-\x7e]+")
"""What a header can carry; gRPC refuses anything else with an exception of its own."""

# Every RPC of this service may be repeated: a write that is known already returns what it returned before.
_RETRIES: Final[dict[str, list[dict[str, Any]]]] = {
    "methodConfig": [
        {
            "name": [{}],
            "retryPolicy": {
                "maxAttempts": 3,
                "initialBackoff": "0.2s",
                "maxBackoff": "2s",
                "backoffMultiplier": 3,
                "retryableStatusCodes": ["UNAVAILABLE"],
            },
        },
        {
            # A stream of ours has no deadline, and gRPC waits for ever where it retries one whose server was killed
            # before the first answer. The caller goes on with it by calling again.
            "name": [
                {"service": "leakscale.v1.CertificationService", "method": "CertifyFamilies"},
                {"service": "leakscale.v1.GrantService", "method": "RedeemGrant"},
                {"service": "leakscale.v1.BankService", "method": "SubmitAnswers"},
            ],
        },
    ]
}


class Transport:
    """Calls of one server. To another machine they speak TLS, always: whoever reads the token on the way has it.

    On this machine they do so if they are told what to trust.
    """

    def __init__(self, target: str, *, token: str | None, timeout_s: float, tls: Tls | None = None) -> None:
        if not target:
            raise InvalidRequestError("the server's address is empty; pass host:port or unix:/path")
        if token and not _TOKEN.fullmatch(token):
            raise InvalidRequestError(
                "the token holds a space, a line break or a letter that no token has; copy it anew from the file "
                "`token` of the server's data folder"
            )
        if tls is not None and target.startswith("unix"):
            raise InvalidRequestError(f"server '{target}' is a UNIX socket, which speaks no TLS; leave --ca out")
        if tls is None and not is_local(target):
            tls = Tls()
        self.target = target
        self._timeout_s = timeout_s
        self._metadata = (("authorization", f"Bearer {token}"),) if token else ()
        self._channels = Channels(lambda: _opened(target, tls), stamp=tls.stamp if tls else lambda: None)

    def stub(self, make: Callable[[grpc.Channel], Any]) -> Stub:
        """Return the methods of a service."""
        return Stub(make, lambda: self._channels.current)

    def unary(self, method: Callable[..., T], request: object) -> T:
        """Call an RPC that answers once."""
        try:
            return method(request, metadata=self._metadata, timeout=self._timeout_s)
        except grpc.RpcError as error:
            raise from_rpc_error(error, target=self.target) from error

    def upload(self, method: Callable[..., T], requests: Iterable[Any]) -> T:
        """Call an RPC that takes a stream and answers once; no deadline.

        Raises:
            Exception: Whatever iterating the requests raises.
        """
        source = _Source(requests)
        try:
            answer = method(source, metadata=self._metadata)
        except grpc.RpcError as error:
            raise source.failure or from_rpc_error(error, target=self.target) from error
        if source.failure is not None:
            raise source.failure
        return answer

    def download(self, method: Callable[..., Any], request: object) -> Generator[Any, None, None]:
        """Call an RPC that takes one request and answers with a stream; see `exchange`."""
        call = method(request, metadata=self._metadata)
        try:
            yield from call
        except grpc.RpcError as error:
            raise from_rpc_error(error, target=self.target) from error
        finally:
            call.cancel()

    def exchange(self, method: Callable[..., Any], requests: Iterable[Any]) -> Generator[Any, None, None]:
        """Call an RPC of two streams; no deadline. Leaving the iterator cancels the call.

        Raises:
            Exception: Whatever iterating the requests raises.
        """
        source = _Source(requests)
        yield from self.download(method, source)
        if source.failure is not None:
            raise source.failure

    def close(self) -> None:
        """Close the connection."""
        self._channels.close()


def _opened(target: str, tls: Tls | None) -> grpc.Channel:
    options = [
        ("grpc.service_config", json.dumps(_RETRIES)),
        # The other half of the server's keepalive pair.
        ("grpc.keepalive_time_ms", 30_000),
        ("grpc.keepalive_timeout_ms", 10_000),
        # A proxy of the environment must never see a token.
        ("grpc.enable_http_proxy", 0),
    ]
    if tls is None:
        return grpc.insecure_channel(target, options=options)
    return grpc.secure_channel(target, tls.credentials(), options=options)


class _Source:
    """Requests on their way into a stream.

    gRPC reads them in a thread of its own, where an exception would be logged and lost. So the stream ends there, which
    every RPC of ours takes as a part that may be gone on with, and the exception is raised where the call was made.
    """

    def __init__(self, requests: Iterable[Any]) -> None:
        self._requests = iter(requests)
        self.failure: Exception | None = None

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return next(self._requests)
        except StopIteration:
            raise
        except Exception as error:
            self.failure = error
            raise StopIteration from None

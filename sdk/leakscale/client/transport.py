"""The channel under a client: token, deadlines, retries, and the one place where failures become our errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable
from typing import Any, Final, TypeVar

import grpc

from leakscale.addresses import is_local
from leakscale.client.channels import Channels, Stub
from leakscale.client.patience import Patience, Requests
from leakscale.client.retries import service_config
from leakscale.client.tls import Tls
from leakscale.errors import InvalidRequestError, from_rpc_error

__all__ = ["CHANNEL_OPTIONS", "Transport"]

T = TypeVar("T")

_TOKEN: Final = re.compile(r"[\x21-\x7e]+")
"""What a header can carry; gRPC refuses anything else with an exception of its own."""

CHANNEL_OPTIONS: Final = (
    ("grpc.service_config", service_config()),
    # The other half of the server's keepalive pair: a connection that is dead is noticed while a long call waits.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    # A proxy of the environment must never see a token.
    ("grpc.enable_http_proxy", 0),
)


class Transport:
    """Calls of one server. To another machine they speak TLS, always: whoever reads the token on the way has it.

    On this machine they do so if they are told what to trust.
    """

    def __init__(
        self,
        target: str,
        *,
        token: str | None,
        timeout_s: float,
        stream_timeout_s: float = 4 * 3600.0,
        tls: Tls | None = None,
    ) -> None:
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
        self._stream_timeout_s = stream_timeout_s
        self._metadata = (("authorization", f"Bearer {token}"),) if token else ()
        self._channels = Channels(lambda: _opened(target, tls), stamp=tls.stamp if tls else lambda: None)

    def stub(self, make: Callable[[grpc.Channel], Any]) -> Stub:
        """Return the methods of a service."""
        return Stub(make, lambda: self._channels.current)

    def unary(self, method: Callable[..., T], request: object) -> T:
        """Call an RPC that answers once; a busy server is waited for until the deadline."""
        patience = Patience(self._timeout_s)
        while True:
            try:
                return method(request, metadata=self._metadata, timeout=patience.left_s)
            except grpc.RpcError as error:
                if not patience.waits(error):
                    raise from_rpc_error(error, target=self.target) from error

    def upload(self, method: Callable[..., T], requests: Iterable[Any]) -> T:
        """Call an RPC that takes a stream and answers once.

        Raises:
            Exception: Whatever iterating the requests raises.
        """
        source, patience = Requests(requests), Patience(self._timeout_s)
        while True:
            try:
                answer = method(source.attempt(), metadata=self._metadata, timeout=self._stream_timeout_s)
            except grpc.RpcError as error:
                if source.failure is None and source.can_repeat and patience.waits(error):
                    continue
                raise source.failure or from_rpc_error(error, target=self.target) from error
            if source.failure is not None:
                raise source.failure
            return answer

    def download(self, method: Callable[..., Any], request: object) -> Generator[Any, None, None]:
        """Call an RPC that takes one request and answers with a stream; see `exchange`."""
        return self._answers(lambda: method(request, metadata=self._metadata, timeout=self._stream_timeout_s))

    def exchange(self, method: Callable[..., Any], requests: Iterable[Any]) -> Generator[Any, None, None]:
        """Call an RPC of two streams. Leaving the iterator cancels the call.

        Raises:
            Exception: Whatever iterating the requests raises.
        """
        source = Requests(requests)

        def begin() -> Any:
            return method(source.attempt(), metadata=self._metadata, timeout=self._stream_timeout_s)

        yield from self._answers(begin, can_repeat=lambda: source.failure is None and source.can_repeat)
        if source.failure is not None:
            raise source.failure

    def _answers(
        self, begin: Callable[[], Any], *, can_repeat: Callable[[], bool] = lambda: True
    ) -> Generator[Any, None, None]:
        patience, answer_count = Patience(self._timeout_s), 0
        while True:
            call = begin()
            try:
                for answer in call:
                    answer_count += 1
                    yield answer
                return
            except grpc.RpcError as error:
                if answer_count or not can_repeat() or not patience.waits(error):
                    raise from_rpc_error(error, target=self.target) from error
            finally:
                call.cancel()

    def close(self) -> None:
        """Close the connection."""
        self._channels.close()


def _opened(target: str, tls: Tls | None) -> grpc.Channel:
    if tls is None:
        return grpc.insecure_channel(target, options=CHANNEL_OPTIONS)
    return grpc.secure_channel(target, tls.credentials(), options=CHANNEL_OPTIONS)

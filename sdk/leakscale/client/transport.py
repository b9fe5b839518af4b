"""The channel under a client: token, deadlines, retries, and the one place where failures become our errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

import grpc

from leakscale.errors import InvalidRequestError, from_rpc_error

__all__ = ["Transport"]

T = TypeVar("T")

# Every RPC of this service may be repeated: a write that is known already returns what it returned before.
_RETRIES: Final = {
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
        }
    ]
}


class Transport:
    """A gRPC channel to one server."""

    def __init__(self, target: str, *, token: str | None, timeout_s: float) -> None:
        if not target:
            raise InvalidRequestError("the server's address is empty; pass host:port or unix:/path")
        self.target = target
        self._timeout_s = timeout_s
        self._metadata = (("authorization", f"Bearer {token}"),) if token else ()
        self.channel = grpc.insecure_channel(
            target,
            options=[
                ("grpc.service_config", json.dumps(_RETRIES)),
                # The other half of the server's keepalive pair.
                ("grpc.keepalive_time_ms", 30_000),
                ("grpc.keepalive_timeout_ms", 10_000),
                # A proxy of the environment must never see a token.
                ("grpc.enable_http_proxy", 0),
            ],
        )

    def unary(self, method: Callable[..., T], request: object) -> T:
        """Call an RPC that answers once."""
        try:
            return method(request, metadata=self._metadata, timeout=self._timeout_s)
        except grpc.RpcError as error:
            raise from_rpc_error(error, target=self.target) from error

    def upload(self, method: Callable[..., T], requests: Iterator[Any]) -> T:
        """Call an RPC that takes a stream and answers once; no deadline."""
        try:
            return method(requests, metadata=self._metadata)
        except grpc.RpcError as error:
            raise from_rpc_error(error, target=self.target) from error

    def stream(self, method: Callable[..., Any], request: object) -> Iterator[Any]:
        """Call an RPC that answers with a stream; no deadline. Leaving the iterator cancels the call."""
        call = method(request, metadata=self._metadata)
        try:
            yield from call
        except grpc.RpcError as error:
            raise from_rpc_error(error, target=self.target) from error
        finally:
            call.cancel()

    def close(self) -> None:
        """Close the channel."""
        self.channel.close()

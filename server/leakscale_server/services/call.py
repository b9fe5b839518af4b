"""One call, as the gate hands it to a handler."""

from __future__ import annotations

from dataclasses import dataclass

import grpc

from leakscale_server.identity.caller import Caller

__all__ = ["Call"]


@dataclass(frozen=True, slots=True)
class Call:
    """Who calls, under which id, and gRPC's own context for what only it can do."""

    request_id: str
    """As the client sent it in `x-request-id`, or drawn here; it stands in the log and returns in the trailers."""
    caller: Caller
    context: grpc.ServicerContext

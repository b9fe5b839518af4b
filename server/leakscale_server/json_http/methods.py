"""The methods that HTTP can call, by what the wire says of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf import json_format, message_factory
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from grpc_health.v1 import health_pb2

from leakscale.v1 import (
    audit_service_pb2,
    bank_service_pb2,
    certification_service_pb2,
    edition_service_pb2,
    experiment_service_pb2,
    grant_service_pb2,
    ledger_service_pb2,
    server_service_pb2,
)
from leakscale_server.errors import InvalidRequest
from leakscale_server.identity.methods import METHOD_SCOPES, OPEN_METHODS

__all__ = ["JSON_METHODS", "JsonMethod"]

_FILES: Final[tuple[Any, ...]] = (
    audit_service_pb2,
    bank_service_pb2,
    certification_service_pb2,
    edition_service_pb2,
    experiment_service_pb2,
    grant_service_pb2,
    ledger_service_pb2,
    server_service_pb2,
    health_pb2,
)


@dataclass(frozen=True, slots=True)
class JsonMethod:
    """A method of the wire."""

    path: str
    """As gRPC and Connect both name it: `/leakscale.v1.EditionService/GetFamily`."""
    is_unary: bool
    """One request, one answer; only these fit one HTTP exchange."""
    decode: Callable[[bytes], Message]
    """Reads the JSON of a request; raises `InvalidRequest`, which says what of it is wrong."""


def _json_method(path: str, described: MethodDescriptor) -> JsonMethod:
    request_class = message_factory.GetMessageClass(described.input_type)

    def decode(body: bytes) -> Message:
        try:
            # The library takes an empty list for a message, and trips over a number.
            if not body.lstrip().startswith(b"{"):
                raise ValueError
            return json_format.Parse(body, request_class())
        except (json_format.ParseError, ValueError, RecursionError) as error:
            said = str(error) if isinstance(error, json_format.ParseError) else "it is no JSON object"
            # What the library quotes may hold half a surrogate pair, which JSON can write and no message can carry.
            line = " ".join(said.encode(errors="replace").decode().split()).rstrip(".")
            raise InvalidRequest(
                f"the request of {described.name} is no {described.input_type.full_name}: {line}; "
                "send its fields as one JSON object, {} if it has none"
            ) from error

    return JsonMethod(path, not (described.client_streaming or described.server_streaming), decode)


JSON_METHODS: Final[Mapping[str, JsonMethod]] = {
    path: _json_method(path, method)
    for file in _FILES
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
    if (path := f"/{service.full_name}/{method.name}") in METHOD_SCOPES or path in OPEN_METHODS
}
"""By path; those that stream are among them, to be told from those that there are not."""

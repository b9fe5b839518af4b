"""The wire as bytes: every method by its name, and all that a call brings back."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf import message_factory
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message

from leakscale import v1

__all__ = ["METHODS", "Reply", "converse", "decoded"]

Metadata = tuple[tuple[str, str | bytes], ...]


def _methods() -> dict[str, MethodDescriptor]:
    names = [module.name for module in pkgutil.iter_modules(v1.__path__, "leakscale.v1.")]
    return {
        f"{service.name}/{method.name}": method
        for name in names
        if name.endswith("_service_pb2")
        for service in importlib.import_module(name).DESCRIPTOR.services_by_name.values()
        for method in service.methods
    }


METHODS = _methods()
"""By service and name, e.g. `BankService/SealBank`."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a caller gets, in the order in which it comes."""

    initial: Metadata
    messages: tuple[bytes, ...]
    code: grpc.StatusCode
    details: str
    trailing: Metadata


def converse(
    channel: grpc.Channel, name: str, requests: Sequence[Message], metadata: Sequence[tuple[str, str]]
) -> Reply:
    """Call a method, one of any of the four kinds, and keep everything that comes back, undecoded."""
    method = METHODS[name]
    make: Any = {
        (False, False): channel.unary_unary,
        (False, True): channel.unary_stream,
        (True, False): channel.stream_unary,
        (True, True): channel.stream_stream,
    }[method.client_streaming, method.server_streaming]
    rpc = make(f"/{method.containing_service.full_name}/{method.name}")
    encoded = [request.SerializeToString() for request in requests]
    sent: Any = iter(encoded) if method.client_streaming else encoded[0]
    messages: list[bytes] = []
    try:
        if method.server_streaming:
            call = rpc(sent, metadata=metadata, timeout=60)
            messages += call
        else:
            answer, call = rpc.with_call(sent, metadata=metadata, timeout=60)
            messages.append(answer)
    except grpc.RpcError as error:
        call = error
    initial, trailing = (
        tuple((key, value) for key, value in each()) for each in (call.initial_metadata, call.trailing_metadata)
    )
    return Reply(initial, tuple(messages), call.code(), call.details(), trailing)


def decoded(name: str, message: bytes) -> Any:
    """Read a message that a method answered with."""
    return message_factory.GetMessageClass(METHODS[name].output_type).FromString(message)

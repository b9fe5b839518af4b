"""What travels back: an answer, or an error as Connect writes it.

Source: the Connect protocol (connectrpc.com/docs/protocol), "Unary-Response" and "Error Codes".
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from google.protobuf import json_format
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message
from google.rpc import code_pb2, error_details_pb2, status_pb2

__all__ = ["HTTP_STATUSES", "Reply", "answer", "failure"]

JSON: Final = "application/json"
HTTP_STATUSES: Final[Mapping[str, int]] = {
    "canceled": 499,
    "unknown": 500,
    "invalid_argument": 400,
    "deadline_exceeded": 504,
    "not_found": 404,
    "already_exists": 409,
    "permission_denied": 403,
    "resource_exhausted": 429,
    "failed_precondition": 400,
    "aborted": 409,
    "out_of_range": 400,
    "unimplemented": 501,
    "internal": 500,
    "unavailable": 503,
    "data_loss": 500,
    "unauthenticated": 401,
}
"""By Connect's names of gRPC's codes."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP response before it is sent."""

    http_status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


def answer(message: Message) -> Reply:
    """Write an answer as the JSON of its message; what has its default is left out."""
    return Reply(200, json_format.MessageToJson(message, indent=None).encode())


def failure(status: status_pb2.Status, *, http_status: int | None = None) -> Reply:
    """Write an error: code, message and details, each of them as its bytes and as JSON to read.

    Args:
        status: As gRPC sends it.
        http_status: Where it is not the one that Connect gives the code.
    """
    code = _connect_name(status.code)
    body = {"code": code, "message": status.message, "details": [_detail(each) for each in status.details]}
    return Reply(http_status or HTTP_STATUSES[code], json.dumps(body).encode(), _headers(code, status))


def _connect_name(code: int) -> str:
    name = code_pb2.Code.Name(code).lower()
    return "canceled" if name == "cancelled" else name


def _detail(packed: AnyMessage) -> dict[str, Any]:
    # Every detail is of google.rpc, which this process has loaded.
    readable = json_format.MessageToDict(packed)
    readable.pop("@type", None)
    value = base64.b64encode(packed.value).decode().rstrip("=")
    return {"type": packed.TypeName(), "value": value, "debug": readable}


def _headers(code: str, status: status_pb2.Status) -> dict[str, str]:
    """Say in HTTP's own words what its clients act on: how to be somebody, and when to come back."""
    if code == "unauthenticated":
        return {"www-authenticate": "Bearer"}
    retry = error_details_pb2.RetryInfo()
    if any(detail.Unpack(retry) for detail in status.details):
        return {"retry-after": str(math.ceil(retry.retry_delay.ToMilliseconds() / 1000))}
    return {}

"""Enumerations and moments of the wire, and what they stand for here."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, TypeVar

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from leakscale.models import Condition, Domain, ModelState, Ring
from leakscale.v1 import enums_pb2
from leakscale_server.errors import InvalidRequest

__all__ = [
    "CONDITIONS",
    "CONDITION_VALUES",
    "DOMAINS",
    "KINDS",
    "KIND_VALUES",
    "RINGS",
    "RING_VALUES",
    "STATES",
    "duration",
    "known",
    "timestamp",
]

T = TypeVar("T")
E = TypeVar("E", bound=int)

DOMAINS: Final = {Domain.SQL: enums_pb2.DOMAIN_SQL, Domain.PYTHON: enums_pb2.DOMAIN_PYTHON}
CONDITIONS: Final = {enums_pb2.CONDITION_C0: Condition.C0, enums_pb2.CONDITION_C2: Condition.C2}
CONDITION_VALUES: Final = {condition: value for value, condition in CONDITIONS.items()}
STATES: Final = {ModelState.BASE: enums_pb2.MODEL_STATE_BASE, ModelState.ADAPTED: enums_pb2.MODEL_STATE_ADAPTED}
RINGS: Final = {Ring.R0: enums_pb2.RING_R0, Ring.R1: enums_pb2.RING_R1, Ring.R2: enums_pb2.RING_R2}
RING_VALUES: Final = {enums_pb2.RING_UNSPECIFIED: Ring.R0, **{value: ring for ring, value in RINGS.items()}}
KINDS: Final = {enums_pb2.EDITION_KIND_PRACTICE: "practice", enums_pb2.EDITION_KIND_PRIVATE: "private"}
KIND_VALUES: Final = {kind: value for value, kind in KINDS.items()}
_DURATION_S_MAX: Final = 315_576_000_000
"""Protobuf's own bound, some ten thousand years. What goes beyond can be sent all the same."""


def timestamp(moment: datetime) -> Timestamp:
    """Write a moment."""
    message = Timestamp()
    message.FromDatetime(moment)
    return message


def duration(message: Duration, *, field: str) -> timedelta:
    """Read a duration.

    Raises:
        InvalidRequest: If it is beyond what a `Duration` may be.
    """
    if abs(message.seconds) > _DURATION_S_MAX or abs(message.nanos) >= 10**9:
        raise InvalidRequest(
            f"{field} of {message.seconds} s and {message.nanos} ns is no duration; send one of at most "
            f"{_DURATION_S_MAX} s and less than a second of ns",
            subject=field,
        )
    return timedelta(seconds=message.seconds, microseconds=message.nanos // 1000)


def known(values: Mapping[E, T], value: E, *, field: str) -> T:
    """Return what a value of an enumeration stands for.

    Raises:
        InvalidRequest: If it is unset, or of a later version.
    """
    if value not in values:
        raise InvalidRequest(f"{field} is missing or unknown ({int(value)})", subject=field)
    return values[value]

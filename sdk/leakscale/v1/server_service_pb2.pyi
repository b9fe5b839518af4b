from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class GetServerInfoRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetServerInfoResponse(_message.Message):
    __slots__ = ("version", "sandbox_backend", "sandbox_image", "lane_count", "public_key", "message_bytes_max", "cases_per_message_max", "features", "calls_per_s", "calls_at_once_max", "streams_at_once_max", "principal", "project", "role", "scopes")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_BACKEND_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_IMAGE_FIELD_NUMBER: _ClassVar[int]
    LANE_COUNT_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_BYTES_MAX_FIELD_NUMBER: _ClassVar[int]
    CASES_PER_MESSAGE_MAX_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    CALLS_PER_S_FIELD_NUMBER: _ClassVar[int]
    CALLS_AT_ONCE_MAX_FIELD_NUMBER: _ClassVar[int]
    STREAMS_AT_ONCE_MAX_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    SCOPES_FIELD_NUMBER: _ClassVar[int]
    version: str
    sandbox_backend: str
    sandbox_image: str
    lane_count: int
    public_key: bytes
    message_bytes_max: int
    cases_per_message_max: int
    features: _containers.RepeatedScalarFieldContainer[str]
    calls_per_s: float
    calls_at_once_max: int
    streams_at_once_max: int
    principal: str
    project: str
    role: str
    scopes: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, version: _Optional[str] = ..., sandbox_backend: _Optional[str] = ..., sandbox_image: _Optional[str] = ..., lane_count: _Optional[int] = ..., public_key: _Optional[bytes] = ..., message_bytes_max: _Optional[int] = ..., cases_per_message_max: _Optional[int] = ..., features: _Optional[_Iterable[str]] = ..., calls_per_s: _Optional[float] = ..., calls_at_once_max: _Optional[int] = ..., streams_at_once_max: _Optional[int] = ..., principal: _Optional[str] = ..., project: _Optional[str] = ..., role: _Optional[str] = ..., scopes: _Optional[_Iterable[str]] = ...) -> None: ...

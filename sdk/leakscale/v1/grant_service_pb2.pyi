import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from leakscale.v1 import resources_pb2 as _resources_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RequestGrantRequest(_message.Message):
    __slots__ = ("edition", "preservation_count", "request_id", "holder_key")
    EDITION_FIELD_NUMBER: _ClassVar[int]
    PRESERVATION_COUNT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    HOLDER_KEY_FIELD_NUMBER: _ClassVar[int]
    edition: str
    preservation_count: int
    request_id: str
    holder_key: bytes
    def __init__(self, edition: _Optional[str] = ..., preservation_count: _Optional[int] = ..., request_id: _Optional[str] = ..., holder_key: _Optional[bytes] = ...) -> None: ...

class RequestGrantResponse(_message.Message):
    __slots__ = ("grant",)
    GRANT_FIELD_NUMBER: _ClassVar[int]
    grant: _resources_pb2.Grant
    def __init__(self, grant: _Optional[_Union[_resources_pb2.Grant, _Mapping]] = ...) -> None: ...

class ApproveGrantRequest(_message.Message):
    __slots__ = ("name", "lifetime")
    NAME_FIELD_NUMBER: _ClassVar[int]
    LIFETIME_FIELD_NUMBER: _ClassVar[int]
    name: str
    lifetime: _duration_pb2.Duration
    def __init__(self, name: _Optional[str] = ..., lifetime: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class ApproveGrantResponse(_message.Message):
    __slots__ = ("grant",)
    GRANT_FIELD_NUMBER: _ClassVar[int]
    grant: _resources_pb2.Grant
    def __init__(self, grant: _Optional[_Union[_resources_pb2.Grant, _Mapping]] = ...) -> None: ...

class GetGrantRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class GetGrantResponse(_message.Message):
    __slots__ = ("grant",)
    GRANT_FIELD_NUMBER: _ClassVar[int]
    grant: _resources_pb2.Grant
    def __init__(self, grant: _Optional[_Union[_resources_pb2.Grant, _Mapping]] = ...) -> None: ...

class ListGrantsRequest(_message.Message):
    __slots__ = ("edition", "page_size", "page_token")
    EDITION_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    edition: str
    page_size: int
    page_token: str
    def __init__(self, edition: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListGrantsResponse(_message.Message):
    __slots__ = ("grants", "next_page_token")
    GRANTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    grants: _containers.RepeatedCompositeFieldContainer[_resources_pb2.Grant]
    next_page_token: str
    def __init__(self, grants: _Optional[_Iterable[_Union[_resources_pb2.Grant, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class RedeemGrantRequest(_message.Message):
    __slots__ = ("name", "request_id")
    NAME_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    name: str
    request_id: str
    def __init__(self, name: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class RedeemGrantResponse(_message.Message):
    __slots__ = ("sealed", "is_last")
    SEALED_FIELD_NUMBER: _ClassVar[int]
    IS_LAST_FIELD_NUMBER: _ClassVar[int]
    sealed: bytes
    is_last: bool
    def __init__(self, sealed: _Optional[bytes] = ..., is_last: _Optional[bool] = ...) -> None: ...

class TraceTextRequest(_message.Message):
    __slots__ = ("edition", "text")
    EDITION_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    edition: str
    text: str
    def __init__(self, edition: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class TraceTextResponse(_message.Message):
    __slots__ = ("traces",)
    TRACES_FIELD_NUMBER: _ClassVar[int]
    traces: _containers.RepeatedCompositeFieldContainer[GrantTrace]
    def __init__(self, traces: _Optional[_Iterable[_Union[GrantTrace, _Mapping]]] = ...) -> None: ...

class GrantTrace(_message.Message):
    __slots__ = ("grant", "markers")
    GRANT_FIELD_NUMBER: _ClassVar[int]
    MARKERS_FIELD_NUMBER: _ClassVar[int]
    grant: str
    markers: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, grant: _Optional[str] = ..., markers: _Optional[_Iterable[str]] = ...) -> None: ...

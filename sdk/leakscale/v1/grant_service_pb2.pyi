from leakscale.v1 import resources_pb2 as _resources_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CreateGrantRequest(_message.Message):
    __slots__ = ("edition", "preservation_count", "request_id")
    EDITION_FIELD_NUMBER: _ClassVar[int]
    PRESERVATION_COUNT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    edition: str
    preservation_count: int
    request_id: str
    def __init__(self, edition: _Optional[str] = ..., preservation_count: _Optional[int] = ..., request_id: _Optional[str] = ...) -> None: ...

class CreateGrantResponse(_message.Message):
    __slots__ = ("grant",)
    GRANT_FIELD_NUMBER: _ClassVar[int]
    grant: _resources_pb2.Grant
    def __init__(self, grant: _Optional[_Union[_resources_pb2.Grant, _Mapping]] = ...) -> None: ...

class RedeemGrantRequest(_message.Message):
    __slots__ = ("name", "request_id")
    NAME_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    name: str
    request_id: str
    def __init__(self, name: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class RedeemGrantResponse(_message.Message):
    __slots__ = ("records",)
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    records: _containers.RepeatedCompositeFieldContainer[_resources_pb2.TrainingRecord]
    def __init__(self, records: _Optional[_Iterable[_Union[_resources_pb2.TrainingRecord, _Mapping]]] = ...) -> None: ...

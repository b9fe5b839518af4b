from leakscale.v1 import enums_pb2 as _enums_pb2
from leakscale.v1 import resources_pb2 as _resources_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CertifyFamiliesRequest(_message.Message):
    __slots__ = ("edition", "shape_id", "condition", "ordinal")
    EDITION_FIELD_NUMBER: _ClassVar[int]
    SHAPE_ID_FIELD_NUMBER: _ClassVar[int]
    CONDITION_FIELD_NUMBER: _ClassVar[int]
    ORDINAL_FIELD_NUMBER: _ClassVar[int]
    edition: str
    shape_id: str
    condition: _enums_pb2.Condition
    ordinal: int
    def __init__(self, edition: _Optional[str] = ..., shape_id: _Optional[str] = ..., condition: _Optional[_Union[_enums_pb2.Condition, str]] = ..., ordinal: _Optional[int] = ...) -> None: ...

class CertifyFamiliesResponse(_message.Message):
    __slots__ = ("shape_id", "condition", "ordinal", "family", "certificate", "rejection", "is_stored")
    SHAPE_ID_FIELD_NUMBER: _ClassVar[int]
    CONDITION_FIELD_NUMBER: _ClassVar[int]
    ORDINAL_FIELD_NUMBER: _ClassVar[int]
    FAMILY_FIELD_NUMBER: _ClassVar[int]
    CERTIFICATE_FIELD_NUMBER: _ClassVar[int]
    REJECTION_FIELD_NUMBER: _ClassVar[int]
    IS_STORED_FIELD_NUMBER: _ClassVar[int]
    shape_id: str
    condition: _enums_pb2.Condition
    ordinal: int
    family: str
    certificate: _resources_pb2.Certificate
    rejection: _resources_pb2.Rejection
    is_stored: bool
    def __init__(self, shape_id: _Optional[str] = ..., condition: _Optional[_Union[_enums_pb2.Condition, str]] = ..., ordinal: _Optional[int] = ..., family: _Optional[str] = ..., certificate: _Optional[_Union[_resources_pb2.Certificate, _Mapping]] = ..., rejection: _Optional[_Union[_resources_pb2.Rejection, _Mapping]] = ..., is_stored: _Optional[bool] = ...) -> None: ...

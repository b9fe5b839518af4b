from leakscale.v1 import resources_pb2 as _resources_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetLedgerHeadRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetLedgerHeadResponse(_message.Message):
    __slots__ = ("head",)
    HEAD_FIELD_NUMBER: _ClassVar[int]
    head: _resources_pb2.LedgerHead
    def __init__(self, head: _Optional[_Union[_resources_pb2.LedgerHead, _Mapping]] = ...) -> None: ...

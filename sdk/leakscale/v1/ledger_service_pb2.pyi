from leakscale.v1 import resources_pb2 as _resources_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
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

class ListLedgerEntriesRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListLedgerEntriesResponse(_message.Message):
    __slots__ = ("entries", "next_page_token")
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[_resources_pb2.LedgerEntry]
    next_page_token: str
    def __init__(self, entries: _Optional[_Iterable[_Union[_resources_pb2.LedgerEntry, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetInclusionProofRequest(_message.Message):
    __slots__ = ("position", "entry_count")
    POSITION_FIELD_NUMBER: _ClassVar[int]
    ENTRY_COUNT_FIELD_NUMBER: _ClassVar[int]
    position: int
    entry_count: int
    def __init__(self, position: _Optional[int] = ..., entry_count: _Optional[int] = ...) -> None: ...

class GetInclusionProofResponse(_message.Message):
    __slots__ = ("leaf", "path")
    LEAF_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    leaf: bytes
    path: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, leaf: _Optional[bytes] = ..., path: _Optional[_Iterable[bytes]] = ...) -> None: ...

class GetConsistencyProofRequest(_message.Message):
    __slots__ = ("first_entry_count", "second_entry_count")
    FIRST_ENTRY_COUNT_FIELD_NUMBER: _ClassVar[int]
    SECOND_ENTRY_COUNT_FIELD_NUMBER: _ClassVar[int]
    first_entry_count: int
    second_entry_count: int
    def __init__(self, first_entry_count: _Optional[int] = ..., second_entry_count: _Optional[int] = ...) -> None: ...

class GetConsistencyProofResponse(_message.Message):
    __slots__ = ("path",)
    PATH_FIELD_NUMBER: _ClassVar[int]
    path: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, path: _Optional[_Iterable[bytes]] = ...) -> None: ...

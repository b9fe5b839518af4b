from leakscale.v1 import resources_pb2 as _resources_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetBankRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class GetBankResponse(_message.Message):
    __slots__ = ("bank",)
    BANK_FIELD_NUMBER: _ClassVar[int]
    bank: _resources_pb2.Bank
    def __init__(self, bank: _Optional[_Union[_resources_pb2.Bank, _Mapping]] = ...) -> None: ...

class ListChunksRequest(_message.Message):
    __slots__ = ("name", "page_size", "page_token")
    NAME_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    name: str
    page_size: int
    page_token: str
    def __init__(self, name: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListChunksResponse(_message.Message):
    __slots__ = ("chunks", "next_page_token")
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    chunks: _containers.RepeatedCompositeFieldContainer[_resources_pb2.Chunk]
    next_page_token: str
    def __init__(self, chunks: _Optional[_Iterable[_Union[_resources_pb2.Chunk, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class SubmitAnswersRequest(_message.Message):
    __slots__ = ("bank", "answers", "number", "digest")
    BANK_FIELD_NUMBER: _ClassVar[int]
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    bank: str
    answers: _containers.RepeatedCompositeFieldContainer[_resources_pb2.Answer]
    number: int
    digest: bytes
    def __init__(self, bank: _Optional[str] = ..., answers: _Optional[_Iterable[_Union[_resources_pb2.Answer, _Mapping]]] = ..., number: _Optional[int] = ..., digest: _Optional[bytes] = ...) -> None: ...

class SubmitAnswersResponse(_message.Message):
    __slots__ = ("bank",)
    BANK_FIELD_NUMBER: _ClassVar[int]
    bank: _resources_pb2.Bank
    def __init__(self, bank: _Optional[_Union[_resources_pb2.Bank, _Mapping]] = ...) -> None: ...

class SealBankRequest(_message.Message):
    __slots__ = ("name", "request_id")
    NAME_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    name: str
    request_id: str
    def __init__(self, name: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class SealBankResponse(_message.Message):
    __slots__ = ("receipt",)
    RECEIPT_FIELD_NUMBER: _ClassVar[int]
    receipt: _resources_pb2.Receipt
    def __init__(self, receipt: _Optional[_Union[_resources_pb2.Receipt, _Mapping]] = ...) -> None: ...

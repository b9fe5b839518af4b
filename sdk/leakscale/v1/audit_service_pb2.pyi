import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from leakscale.v1 import resources_pb2 as _resources_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Audit(_message.Message):
    __slots__ = ("name", "title", "depositor", "create_time", "author_key", "registration", "amendments", "answer_sets", "released_variants", "amendment_receipts")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    DEPOSITOR_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_KEY_FIELD_NUMBER: _ClassVar[int]
    REGISTRATION_FIELD_NUMBER: _ClassVar[int]
    AMENDMENTS_FIELD_NUMBER: _ClassVar[int]
    ANSWER_SETS_FIELD_NUMBER: _ClassVar[int]
    RELEASED_VARIANTS_FIELD_NUMBER: _ClassVar[int]
    AMENDMENT_RECEIPTS_FIELD_NUMBER: _ClassVar[int]
    name: str
    title: str
    depositor: str
    create_time: _timestamp_pb2.Timestamp
    author_key: bytes
    registration: bytes
    amendments: _containers.RepeatedScalarFieldContainer[bytes]
    answer_sets: _containers.RepeatedCompositeFieldContainer[AnswerSet]
    released_variants: _containers.RepeatedScalarFieldContainer[str]
    amendment_receipts: _containers.RepeatedCompositeFieldContainer[_resources_pb2.Statement]
    def __init__(self, name: _Optional[str] = ..., title: _Optional[str] = ..., depositor: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., author_key: _Optional[bytes] = ..., registration: _Optional[bytes] = ..., amendments: _Optional[_Iterable[bytes]] = ..., answer_sets: _Optional[_Iterable[_Union[AnswerSet, _Mapping]]] = ..., released_variants: _Optional[_Iterable[str]] = ..., amendment_receipts: _Optional[_Iterable[_Union[_resources_pb2.Statement, _Mapping]]] = ...) -> None: ...

class AnswerSet(_message.Message):
    __slots__ = ("name", "receipt")
    NAME_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_FIELD_NUMBER: _ClassVar[int]
    name: str
    receipt: _resources_pb2.Statement
    def __init__(self, name: _Optional[str] = ..., receipt: _Optional[_Union[_resources_pb2.Statement, _Mapping]] = ...) -> None: ...

class GetDepositKeyRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetDepositKeyResponse(_message.Message):
    __slots__ = ("public_key", "statement")
    PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
    STATEMENT_FIELD_NUMBER: _ClassVar[int]
    public_key: bytes
    statement: _resources_pb2.Statement
    def __init__(self, public_key: _Optional[bytes] = ..., statement: _Optional[_Union[_resources_pb2.Statement, _Mapping]] = ...) -> None: ...

class DepositAuditRequest(_message.Message):
    __slots__ = ("audit_id", "registration", "author_key", "sealed", "is_last")
    AUDIT_ID_FIELD_NUMBER: _ClassVar[int]
    REGISTRATION_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_KEY_FIELD_NUMBER: _ClassVar[int]
    SEALED_FIELD_NUMBER: _ClassVar[int]
    IS_LAST_FIELD_NUMBER: _ClassVar[int]
    audit_id: str
    registration: bytes
    author_key: bytes
    sealed: bytes
    is_last: bool
    def __init__(self, audit_id: _Optional[str] = ..., registration: _Optional[bytes] = ..., author_key: _Optional[bytes] = ..., sealed: _Optional[bytes] = ..., is_last: _Optional[bool] = ...) -> None: ...

class DepositAuditResponse(_message.Message):
    __slots__ = ("audit",)
    AUDIT_FIELD_NUMBER: _ClassVar[int]
    audit: Audit
    def __init__(self, audit: _Optional[_Union[Audit, _Mapping]] = ...) -> None: ...

class GetAuditRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class GetAuditResponse(_message.Message):
    __slots__ = ("audit",)
    AUDIT_FIELD_NUMBER: _ClassVar[int]
    audit: Audit
    def __init__(self, audit: _Optional[_Union[Audit, _Mapping]] = ...) -> None: ...

class ListAuditsRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListAuditsResponse(_message.Message):
    __slots__ = ("audits", "next_page_token")
    AUDITS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    audits: _containers.RepeatedCompositeFieldContainer[Audit]
    next_page_token: str
    def __init__(self, audits: _Optional[_Iterable[_Union[Audit, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class AmendAuditRequest(_message.Message):
    __slots__ = ("name", "amendment")
    NAME_FIELD_NUMBER: _ClassVar[int]
    AMENDMENT_FIELD_NUMBER: _ClassVar[int]
    name: str
    amendment: bytes
    def __init__(self, name: _Optional[str] = ..., amendment: _Optional[bytes] = ...) -> None: ...

class AmendAuditResponse(_message.Message):
    __slots__ = ("audit",)
    AUDIT_FIELD_NUMBER: _ClassVar[int]
    audit: Audit
    def __init__(self, audit: _Optional[_Union[Audit, _Mapping]] = ...) -> None: ...

class FetchFormsRequest(_message.Message):
    __slots__ = ("bank", "holder_key")
    BANK_FIELD_NUMBER: _ClassVar[int]
    HOLDER_KEY_FIELD_NUMBER: _ClassVar[int]
    bank: str
    holder_key: bytes
    def __init__(self, bank: _Optional[str] = ..., holder_key: _Optional[bytes] = ...) -> None: ...

class FetchFormsResponse(_message.Message):
    __slots__ = ("sealed", "is_last")
    SEALED_FIELD_NUMBER: _ClassVar[int]
    IS_LAST_FIELD_NUMBER: _ClassVar[int]
    sealed: bytes
    is_last: bool
    def __init__(self, sealed: _Optional[bytes] = ..., is_last: _Optional[bool] = ...) -> None: ...

class ListFormAnswerChunksRequest(_message.Message):
    __slots__ = ("name", "page_size", "page_token")
    NAME_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    name: str
    page_size: int
    page_token: str
    def __init__(self, name: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListFormAnswerChunksResponse(_message.Message):
    __slots__ = ("chunks", "next_page_token")
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    chunks: _containers.RepeatedCompositeFieldContainer[FormAnswerChunk]
    next_page_token: str
    def __init__(self, chunks: _Optional[_Iterable[_Union[FormAnswerChunk, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class FormAnswerChunk(_message.Message):
    __slots__ = ("number", "digest", "answer_count")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    ANSWER_COUNT_FIELD_NUMBER: _ClassVar[int]
    number: int
    digest: bytes
    answer_count: int
    def __init__(self, number: _Optional[int] = ..., digest: _Optional[bytes] = ..., answer_count: _Optional[int] = ...) -> None: ...

class SubmitFormAnswersRequest(_message.Message):
    __slots__ = ("answer_set", "number", "digest", "sealed")
    ANSWER_SET_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    SEALED_FIELD_NUMBER: _ClassVar[int]
    answer_set: str
    number: int
    digest: bytes
    sealed: bytes
    def __init__(self, answer_set: _Optional[str] = ..., number: _Optional[int] = ..., digest: _Optional[bytes] = ..., sealed: _Optional[bytes] = ...) -> None: ...

class SubmitFormAnswersResponse(_message.Message):
    __slots__ = ("answer_set",)
    ANSWER_SET_FIELD_NUMBER: _ClassVar[int]
    answer_set: AnswerSet
    def __init__(self, answer_set: _Optional[_Union[AnswerSet, _Mapping]] = ...) -> None: ...

class SealFormAnswersRequest(_message.Message):
    __slots__ = ("name", "chunk_count", "request_id", "answers_digest")
    NAME_FIELD_NUMBER: _ClassVar[int]
    CHUNK_COUNT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    ANSWERS_DIGEST_FIELD_NUMBER: _ClassVar[int]
    name: str
    chunk_count: int
    request_id: str
    answers_digest: bytes
    def __init__(self, name: _Optional[str] = ..., chunk_count: _Optional[int] = ..., request_id: _Optional[str] = ..., answers_digest: _Optional[bytes] = ...) -> None: ...

class SealFormAnswersResponse(_message.Message):
    __slots__ = ("answer_set",)
    ANSWER_SET_FIELD_NUMBER: _ClassVar[int]
    answer_set: AnswerSet
    def __init__(self, answer_set: _Optional[_Union[AnswerSet, _Mapping]] = ...) -> None: ...

class DownloadScoresRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class DownloadScoresResponse(_message.Message):
    __slots__ = ("statement", "table", "chunk")
    STATEMENT_FIELD_NUMBER: _ClassVar[int]
    TABLE_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    statement: _resources_pb2.Statement
    table: int
    chunk: bytes
    def __init__(self, statement: _Optional[_Union[_resources_pb2.Statement, _Mapping]] = ..., table: _Optional[int] = ..., chunk: _Optional[bytes] = ...) -> None: ...

from leakscale.v1 import enums_pb2 as _enums_pb2
from leakscale.v1 import resources_pb2 as _resources_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ShapeSource(_message.Message):
    __slots__ = ("source", "toml")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TOML_FIELD_NUMBER: _ClassVar[int]
    source: str
    toml: str
    def __init__(self, source: _Optional[str] = ..., toml: _Optional[str] = ...) -> None: ...

class CreateEditionRequest(_message.Message):
    __slots__ = ("edition_id", "kind", "families_per_cell", "public_seed", "practice_private_seed", "shapes")
    EDITION_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    FAMILIES_PER_CELL_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_SEED_FIELD_NUMBER: _ClassVar[int]
    PRACTICE_PRIVATE_SEED_FIELD_NUMBER: _ClassVar[int]
    SHAPES_FIELD_NUMBER: _ClassVar[int]
    edition_id: str
    kind: _enums_pb2.EditionKind
    families_per_cell: int
    public_seed: bytes
    practice_private_seed: bytes
    shapes: _containers.RepeatedCompositeFieldContainer[ShapeSource]
    def __init__(self, edition_id: _Optional[str] = ..., kind: _Optional[_Union[_enums_pb2.EditionKind, str]] = ..., families_per_cell: _Optional[int] = ..., public_seed: _Optional[bytes] = ..., practice_private_seed: _Optional[bytes] = ..., shapes: _Optional[_Iterable[_Union[ShapeSource, _Mapping]]] = ...) -> None: ...

class CreateEditionResponse(_message.Message):
    __slots__ = ("edition",)
    EDITION_FIELD_NUMBER: _ClassVar[int]
    edition: _resources_pb2.Edition
    def __init__(self, edition: _Optional[_Union[_resources_pb2.Edition, _Mapping]] = ...) -> None: ...

class GetEditionRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class GetEditionResponse(_message.Message):
    __slots__ = ("edition",)
    EDITION_FIELD_NUMBER: _ClassVar[int]
    edition: _resources_pb2.Edition
    def __init__(self, edition: _Optional[_Union[_resources_pb2.Edition, _Mapping]] = ...) -> None: ...

class ListEditionsRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListEditionsResponse(_message.Message):
    __slots__ = ("editions", "next_page_token")
    EDITIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    editions: _containers.RepeatedCompositeFieldContainer[_resources_pb2.Edition]
    next_page_token: str
    def __init__(self, editions: _Optional[_Iterable[_Union[_resources_pb2.Edition, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class FreezeEditionRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class FreezeEditionResponse(_message.Message):
    __slots__ = ("edition",)
    EDITION_FIELD_NUMBER: _ClassVar[int]
    edition: _resources_pb2.Edition
    def __init__(self, edition: _Optional[_Union[_resources_pb2.Edition, _Mapping]] = ...) -> None: ...

class ListFamiliesRequest(_message.Message):
    __slots__ = ("edition", "page_size", "page_token", "ring")
    EDITION_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    RING_FIELD_NUMBER: _ClassVar[int]
    edition: str
    page_size: int
    page_token: str
    ring: _enums_pb2.Ring
    def __init__(self, edition: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., ring: _Optional[_Union[_enums_pb2.Ring, str]] = ...) -> None: ...

class ListFamiliesResponse(_message.Message):
    __slots__ = ("families", "next_page_token")
    FAMILIES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    families: _containers.RepeatedCompositeFieldContainer[_resources_pb2.Family]
    next_page_token: str
    def __init__(self, families: _Optional[_Iterable[_Union[_resources_pb2.Family, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetFamilyRequest(_message.Message):
    __slots__ = ("name", "ring")
    NAME_FIELD_NUMBER: _ClassVar[int]
    RING_FIELD_NUMBER: _ClassVar[int]
    name: str
    ring: _enums_pb2.Ring
    def __init__(self, name: _Optional[str] = ..., ring: _Optional[_Union[_enums_pb2.Ring, str]] = ...) -> None: ...

class GetFamilyResponse(_message.Message):
    __slots__ = ("family",)
    FAMILY_FIELD_NUMBER: _ClassVar[int]
    family: _resources_pb2.Family
    def __init__(self, family: _Optional[_Union[_resources_pb2.Family, _Mapping]] = ...) -> None: ...

class DownloadEditionRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class DownloadEditionResponse(_message.Message):
    __slots__ = ("chunk",)
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    chunk: bytes
    def __init__(self, chunk: _Optional[bytes] = ...) -> None: ...

class RetireEditionRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class RetireEditionResponse(_message.Message):
    __slots__ = ("edition",)
    EDITION_FIELD_NUMBER: _ClassVar[int]
    edition: _resources_pb2.Edition
    def __init__(self, edition: _Optional[_Union[_resources_pb2.Edition, _Mapping]] = ...) -> None: ...

class ListOpeningsRequest(_message.Message):
    __slots__ = ("edition", "page_size", "page_token")
    EDITION_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    edition: str
    page_size: int
    page_token: str
    def __init__(self, edition: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListOpeningsResponse(_message.Message):
    __slots__ = ("openings", "next_page_token")
    OPENINGS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    openings: _containers.RepeatedCompositeFieldContainer[_resources_pb2.Opening]
    next_page_token: str
    def __init__(self, openings: _Optional[_Iterable[_Union[_resources_pb2.Opening, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

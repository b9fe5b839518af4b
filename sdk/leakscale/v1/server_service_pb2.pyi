from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class GetServerInfoRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetServerInfoResponse(_message.Message):
    __slots__ = ("version", "sandbox_backend", "sandbox_image", "lane_count", "public_key", "message_bytes_max", "cases_per_message_max")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_BACKEND_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_IMAGE_FIELD_NUMBER: _ClassVar[int]
    LANE_COUNT_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_BYTES_MAX_FIELD_NUMBER: _ClassVar[int]
    CASES_PER_MESSAGE_MAX_FIELD_NUMBER: _ClassVar[int]
    version: str
    sandbox_backend: str
    sandbox_image: str
    lane_count: int
    public_key: bytes
    message_bytes_max: int
    cases_per_message_max: int
    def __init__(self, version: _Optional[str] = ..., sandbox_backend: _Optional[str] = ..., sandbox_image: _Optional[str] = ..., lane_count: _Optional[int] = ..., public_key: _Optional[bytes] = ..., message_bytes_max: _Optional[int] = ..., cases_per_message_max: _Optional[int] = ...) -> None: ...

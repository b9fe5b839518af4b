"""Every field of every request at the ends of what the wire can carry: refused or served, never a fault of ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from google.protobuf import message_factory
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from leakscale.client import Client
from leakscale_server.app import RunningServer

from .deposited import a_locked, deposit
from .helpers import KEY, World
from .wire import METHODS, converse

_TEXTS = ("\0", "..", "../../etc/passwd", "' OR 1=1 --", "%", "\u202e\U0001f511", "ﬁ", " ", "a" * 100_000)
_VALUES: dict[int, tuple[Any, ...]] = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), -1, 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), -1, 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (2**32 - 1,),
    FieldDescriptor.CPPTYPE_UINT64: (2**63, 2**64 - 1),
    FieldDescriptor.CPPTYPE_ENUM: (-1, 2**31 - 1),
    FieldDescriptor.CPPTYPE_BOOL: (True,),
    FieldDescriptor.CPPTYPE_STRING: _TEXTS,
}
_OURS = (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN, grpc.StatusCode.DATA_LOSS)


def _values(field: Any) -> Iterator[Any]:
    if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
        yield from _at_the_ends(message_factory.GetMessageClass(field.message_type)())
    elif field.type == FieldDescriptor.TYPE_BYTES:
        yield from (b"\0", bytes(100_000))
    else:
        yield from _VALUES[field.cpp_type]


def _at_the_ends(base: Message) -> Iterator[Message]:
    """Return copies of a message, each with one field, of its own or of what it holds, at one end."""
    fields: Any = base.DESCRIPTOR.fields
    for field in fields:
        for value in _values(field):
            changed = type(base)()
            changed.CopyFrom(base)
            changed.ClearField(field.name)
            if field.is_repeated:
                getattr(changed, field.name).extend([value, value])
            elif field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
                getattr(changed, field.name).CopyFrom(value)
            else:
                setattr(changed, field.name, value)
            yield changed


def _sensible(name: str, world: World, *, grant: str, audit: str) -> Message:
    """Return a request about things that exist, so that a handler comes to its other fields."""
    request: Any = message_factory.GetMessageClass(METHODS[name].input_type)()
    named = {
        "edition": world.edition.name,
        "bank": world.experiment.banks[0].name,
        "request_id": "extremes",
        "experiment_id": "extremes",
        "edition_id": "extremes",
        "model_label": "m",
    }
    if name.startswith("AuditService/"):
        named["bank"] = f"{audit}/banks/audit"
    named["answer_set"] = f"{audit}/variants/registered/banks/audit/models/tiny"
    named["audit_id"] = "extremes-too"
    named["name"] = {
        "AuditService/GetAudit": audit,
        "AuditService/AmendAudit": audit,
        "AuditService/DownloadScores": f"{audit}/variants/registered",
        "AuditService/ListFormAnswerChunks": named["answer_set"],
        "AuditService/SealFormAnswers": named["answer_set"],
    }.get(name) or {
        "BankService": named["bank"],
        "ExperimentService": world.experiment.name,
        "GrantService": grant,
        "EditionService": "editions/none" if name.endswith("/RetireEdition") else world.edition.name,
    }.get(name.partition("/")[0], "")
    for field, value in named.items():
        if field in request.DESCRIPTOR.fields_by_name:
            setattr(request, field, value)
    return request  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def audit(client: Client, tmp_path_factory: pytest.TempPathFactory) -> str:
    return deposit(client, a_locked(tmp_path_factory.mktemp("extremes"), "extremes")).name


@pytest.mark.parametrize("name", METHODS)
def test_no_value_of_a_field_is_a_fault_of_the_servers(
    name: str, server: RunningServer, client: Client, world: World, audit: str
) -> None:
    """Numbers that no date holds, texts that no file system, database or terminal likes."""
    grant = client.grants.request(world.edition.name, holder_key=KEY.public, request_id="extremes").name
    metadata = [("authorization", f"Bearer {server.token}")]
    with grpc.insecure_channel(server.target) as channel:
        for request in _at_the_ends(_sensible(name, world, grant=grant, audit=audit)):
            reply = converse(channel, name, [request], metadata)
            assert reply.code not in _OURS, (reply.details, str(request)[:300])

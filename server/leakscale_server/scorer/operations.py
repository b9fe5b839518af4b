"""What of `Scoring` and `AuditScoring` travels: every method by its annotations, arguments and answers as JSON.

A method that returns an iterator answers item by item. There is no list to keep: a method added to the contract is one
more operation.
"""

from __future__ import annotations

import inspect
import json
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ConfigDict, TypeAdapter

from leakscale_server.errors import FAULTS, Internal, ServerFault
from leakscale_server.scorer.audits.contract import AuditScoring
from leakscale_server.scorer.contract import SandboxFacts, ScorerSettings, Scoring

__all__ = ["OPEN", "OPERATIONS", "Operation", "decode_fault", "encode_fault"]

_BYTES_AS_TEXT: Final = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")


@dataclass(frozen=True, slots=True)
class Operation:
    """One method as it travels."""

    name: str
    """From the scorer on, with a dot where an object lies between: `audits.keep`."""
    is_itemized: bool
    """Whether the answer comes item by item."""
    arguments: TypeAdapter[Any]
    answer: TypeAdapter[Any]
    """Of the answer, or of one of its items."""

    def encode_request(self, *arguments: object) -> bytes:
        """Write a call."""
        return self.name.encode() + b"\n" + self.arguments.dump_json(arguments)

    def encode_answer(self, answer: object) -> bytes:
        """Write an answer, or an item of one."""
        return self.answer.dump_json((answer,))

    def decode_answer(self, body: bytes) -> Any:
        """Read an answer, or an item of one."""
        return self.answer.validate_json(body)[0]


def encode_fault(fault: ServerFault) -> bytes:
    """Write what a call ended with."""
    return json.dumps({"fault": type(fault).__name__, "message": fault.message, "subject": fault.subject}).encode()


def decode_fault(body: bytes) -> ServerFault:
    """Read what a call ended with; an unknown class is `Internal`."""
    told = json.loads(body)
    known = {fault.__name__: fault for fault in FAULTS}
    return known.get(told["fault"], Internal)(told["message"], subject=told["subject"])


def _operation(name: str, arguments: tuple[Any, ...], answer: Any) -> Operation:
    is_itemized = typing.get_origin(answer) is Iterator
    item = typing.get_args(answer)[0] if is_itemized else answer
    return Operation(
        name=name,
        is_itemized=is_itemized,
        arguments=_adapter(arguments),
        answer=_adapter((item,)),
    )


def _adapter(types: tuple[Any, ...]) -> TypeAdapter[Any]:
    # Of a tuple, since a type of its own would not take the setting: dataclasses inherit it from what they are in.
    return TypeAdapter(tuple[types], config=_BYTES_AS_TEXT)  # type: ignore[valid-type]


def _operations(contract: type, *, prefix: str = "") -> dict[str, Operation]:
    found = {}
    for name, method in inspect.getmembers(contract, inspect.isfunction):
        if not name.startswith("_"):
            hints = typing.get_type_hints(method)
            answer = hints.pop("return")
            found[prefix + name] = _operation(prefix + name, tuple(hints.values()), answer)
    return found


OPEN: Final = _operation("open", (ScorerSettings,), SandboxFacts)
"""The first request of all: what to open. Its fault is the line with which the server does not start."""
OPERATIONS: Final = {**_operations(Scoring), **_operations(AuditScoring, prefix="audits.")}
"""By name."""

"""What the server refuses or fails to do, and the gRPC status each becomes.

A family that breaks the acceptance rule is none of these: it is an answer (a `Rejection`), so a stream goes on.

    ServerFault
    ├── InvalidRequest     INVALID_ARGUMENT      ├── DigestConflict     ALREADY_EXISTS
    │   ├── CaseUnknown                          │   └── CaseDuplicate
    │   └── AnswerTooLong                        ├── Unauthenticated    UNAUTHENTICATED
    │                                            │   ├── TokenMissing
    ├── NotFound           NOT_FOUND             │   └── TokenRefused
    ├── NotCertified       FAILED_PRECONDITION   ├── ScopeMissing       PERMISSION_DENIED
    ├── NotFrozen          FAILED_PRECONDITION   ├── QueueFull          RESOURCE_EXHAUSTED + RetryInfo
    ├── NotRetired         FAILED_PRECONDITION   ├── Unavailable        UNAVAILABLE + RetryInfo
    ├── ReadOnly           FAILED_PRECONDITION   ├── StorageFull        RESOURCE_EXHAUSTED
    ├── NotSealed          FAILED_PRECONDITION   ├── SandboxUnusable    INTERNAL
    ├── BankIncomplete     FAILED_PRECONDITION   ├── IntegrityFailure   DATA_LOSS
    ├── BankSealed         FAILED_PRECONDITION   └── Internal           INTERNAL
    ├── AlreadyDone        FAILED_PRECONDITION
    ├── GrantNotOpen       FAILED_PRECONDITION
    ├── Expired            FAILED_PRECONDITION
    ├── CohortTooSmall     FAILED_PRECONDITION
    ├── PartiesMixed       FAILED_PRECONDITION
    ├── EditionRetired     FAILED_PRECONDITION
    └── BudgetSpent        FAILED_PRECONDITION

`FAULTS` lists them all; a test proves that each reason of the wire has exactly one.
"""

from __future__ import annotations

from typing import ClassVar, Final

import grpc
from google.protobuf import any_pb2, duration_pb2
from google.rpc import code_pb2, error_details_pb2, status_pb2

from leakscale.v1 import enums_pb2

__all__ = [
    "FAULTS",
    "AlreadyDone",
    "AnswerTooLong",
    "BankIncomplete",
    "BankSealed",
    "BudgetSpent",
    "CaseDuplicate",
    "CaseUnknown",
    "CohortTooSmall",
    "DigestConflict",
    "EditionRetired",
    "Expired",
    "GrantNotOpen",
    "IntegrityFailure",
    "Internal",
    "InvalidRequest",
    "NotCertified",
    "NotFound",
    "NotFrozen",
    "NotRetired",
    "NotSealed",
    "PartiesMixed",
    "QueueFull",
    "ReadOnly",
    "SandboxUnusable",
    "ScopeMissing",
    "ServerFault",
    "StorageFull",
    "TokenMissing",
    "TokenRefused",
    "Unauthenticated",
    "Unavailable",
]


_MESSAGE_BYTES_MAX: Final = 1024
_SUBJECT_BYTES_MAX: Final = 256
"""A status travels in trailing metadata, of which a client takes 8 KiB; a longer one would arrive as no status at all.
The message is in it up to three times, once with three bytes for each that is not ASCII."""

_NOBODY: Final = (
    "the call carries no token that this server takes; pass one that has not ended by LEAKSCALE_TOKEN or --token, as "
    "the server's administrator makes it with `leakscale-server token create`"
)


class ServerFault(Exception):
    """Base of what an RPC can end with other than its answer.

    Args:
        message: Subject, rule, value and next step in one line. Never a key, a fixture, a path of the host or a trace.
        subject: What it is about, in the details: a field for `InvalidRequest`, a resource name otherwise.
    """

    reason: ClassVar[int]
    code: ClassVar[grpc.StatusCode]
    retry_after_s: float | None = None

    def __init__(self, message: str, *, subject: str = "") -> None:
        self.message = _clipped(message, _MESSAGE_BYTES_MAX)
        self.subject = _clipped(subject, _SUBJECT_BYTES_MAX)
        super().__init__(self.message)

    @property
    def reason_name(self) -> str:
        """The reason as the wire names it, without its prefix."""
        return enums_pb2.ErrorReason.Name(self.reason).removeprefix("ERROR_REASON_")

    def to_status(self) -> status_pb2.Status:
        """Write the status that travels: message, `ErrorInfo`, and the detail that its code calls for."""
        info = error_details_pb2.ErrorInfo(
            reason=enums_pb2.ErrorReason.Name(self.reason), domain="leakscale", metadata={"subject": self.subject}
        )
        details: list[any_pb2.Any] = [_pack(info)]
        if self.code is grpc.StatusCode.INVALID_ARGUMENT:
            violation = error_details_pb2.BadRequest.FieldViolation(field=self.subject, description=self.message)
            details.append(_pack(error_details_pb2.BadRequest(field_violations=[violation])))
        elif self.code is grpc.StatusCode.NOT_FOUND:
            details.append(_pack(error_details_pb2.ResourceInfo(resource_name=self.subject, description=self.message)))
        elif self.code is grpc.StatusCode.FAILED_PRECONDITION:
            lacking = error_details_pb2.PreconditionFailure.Violation(
                type=info.reason, subject=self.subject, description=self.message
            )
            details.append(_pack(error_details_pb2.PreconditionFailure(violations=[lacking])))
        if self.retry_after_s is not None:
            delay = duration_pb2.Duration()
            delay.FromMilliseconds(round(self.retry_after_s * 1000))
            details.append(_pack(error_details_pb2.RetryInfo(retry_delay=delay)))
        return status_pb2.Status(code=code_pb2.Code.Value(self.code.name), message=self.message, details=details)


def _clipped(text: str, byte_count_max: int) -> str:
    encoded = text.encode()
    if len(encoded) <= byte_count_max:
        return text
    return encoded[: byte_count_max - 3].decode(errors="ignore") + "…"


def _pack(message: object) -> any_pb2.Any:
    packed = any_pb2.Any()
    packed.Pack(message)  # type: ignore[arg-type]
    return packed


class InvalidRequest(ServerFault):
    """A field breaks a rule."""

    reason = enums_pb2.ERROR_REASON_INVALID_REQUEST
    code = grpc.StatusCode.INVALID_ARGUMENT


class CaseUnknown(InvalidRequest):
    """A case that the bank does not have."""

    reason = enums_pb2.ERROR_REASON_CASE_UNKNOWN


class AnswerTooLong(InvalidRequest):
    """An answer over the length bound."""

    reason = enums_pb2.ERROR_REASON_ANSWER_TOO_LONG


class NotFound(ServerFault):
    """A named resource does not exist."""

    reason = enums_pb2.ERROR_REASON_NOT_FOUND
    code = grpc.StatusCode.NOT_FOUND


class NotCertified(ServerFault):
    """A family of the edition has no certificate."""

    reason = enums_pb2.ERROR_REASON_NOT_CERTIFIED
    code = grpc.StatusCode.FAILED_PRECONDITION


class NotFrozen(ServerFault):
    """The edition is a draft."""

    reason = enums_pb2.ERROR_REASON_NOT_FROZEN
    code = grpc.StatusCode.FAILED_PRECONDITION


class NotRetired(ServerFault):
    """The edition is not retired, so its commitments stay closed."""

    reason = enums_pb2.ERROR_REASON_NOT_RETIRED
    code = grpc.StatusCode.FAILED_PRECONDITION


class ReadOnly(ServerFault):
    """The server is a replica, which only reads."""

    reason = enums_pb2.ERROR_REASON_READ_ONLY
    code = grpc.StatusCode.FAILED_PRECONDITION


class EditionRetired(ServerFault):
    """The edition is retired: its truth is in the open."""

    reason = enums_pb2.ERROR_REASON_EDITION_RETIRED
    code = grpc.StatusCode.FAILED_PRECONDITION


class NotSealed(ServerFault):
    """A bank of the experiment is not sealed."""

    reason = enums_pb2.ERROR_REASON_NOT_SEALED
    code = grpc.StatusCode.FAILED_PRECONDITION


class BankIncomplete(ServerFault):
    """A bank to seal lacks answers."""

    reason = enums_pb2.ERROR_REASON_BANK_INCOMPLETE
    code = grpc.StatusCode.FAILED_PRECONDITION


class BankSealed(ServerFault):
    """A bank was sealed by another request, or takes no more answers."""

    reason = enums_pb2.ERROR_REASON_BANK_SEALED
    code = grpc.StatusCode.FAILED_PRECONDITION


class Expired(ServerFault):
    """The time that a plan gave its experiment is over."""

    reason = enums_pb2.ERROR_REASON_EXPIRED
    code = grpc.StatusCode.FAILED_PRECONDITION


class CohortTooSmall(ServerFault):
    """Numbers would be over too few families, alone or as a difference of disclosed ones."""

    reason = enums_pb2.ERROR_REASON_COHORT_TOO_SMALL
    code = grpc.StatusCode.FAILED_PRECONDITION


class AlreadyDone(ServerFault):
    """A grant was redeemed by an earlier request."""

    reason = enums_pb2.ERROR_REASON_ALREADY_DONE
    code = grpc.StatusCode.FAILED_PRECONDITION


class GrantNotOpen(ServerFault):
    """A grant waits for approval, or its time is over."""

    reason = enums_pb2.ERROR_REASON_GRANT_NOT_OPEN
    code = grpc.StatusCode.FAILED_PRECONDITION


class PartiesMixed(ServerFault):
    """One principal would redeem a grant and submit answers, in an experiment that does not say so."""

    reason = enums_pb2.ERROR_REASON_PARTIES_MIXED
    code = grpc.StatusCode.FAILED_PRECONDITION


class BudgetSpent(ServerFault):
    """What may be disclosed over a part of a private edition is spent."""

    reason = enums_pb2.ERROR_REASON_BUDGET_SPENT
    code = grpc.StatusCode.FAILED_PRECONDITION


class DigestConflict(ServerFault):
    """The same name stands for something else."""

    reason = enums_pb2.ERROR_REASON_DIGEST_CONFLICT
    code = grpc.StatusCode.ALREADY_EXISTS


class CaseDuplicate(DigestConflict):
    """A case that has its answer already."""

    reason = enums_pb2.ERROR_REASON_CASE_DUPLICATE


class Unauthenticated(ServerFault):
    """Nobody known calls. One message for all causes: whether a token is unknown or has ended is not for callers."""

    code = grpc.StatusCode.UNAUTHENTICATED

    def __init__(self, message: str = _NOBODY, *, subject: str = "") -> None:
        super().__init__(message, subject=subject)


class TokenMissing(Unauthenticated):
    """The call carries no bearer token."""

    reason = enums_pb2.ERROR_REASON_TOKEN_MISSING


class TokenRefused(Unauthenticated):
    """The token is none of this server's, or has ended."""

    reason = enums_pb2.ERROR_REASON_TOKEN_REFUSED


class ScopeMissing(ServerFault):
    """The token is good and does not open this method."""

    reason = enums_pb2.ERROR_REASON_SCOPE_MISSING
    code = grpc.StatusCode.PERMISSION_DENIED


class QueueFull(ServerFault):
    """Too much work is in flight. The call was refused before anything was done."""

    reason = enums_pb2.ERROR_REASON_QUEUE_FULL
    code = grpc.StatusCode.RESOURCE_EXHAUSTED

    retry_after_s = 1.0

    def __init__(self, message: str, *, subject: str = "", retry_after_s: float = retry_after_s) -> None:
        super().__init__(message, subject=subject)
        self.retry_after_s = retry_after_s


class Unavailable(ServerFault):
    """The server is starting or stopping."""

    reason = enums_pb2.ERROR_REASON_UNAVAILABLE
    code = grpc.StatusCode.UNAVAILABLE
    retry_after_s = 5.0


class SandboxUnusable(ServerFault):
    """The sandbox failed after its retries; no verdict was made."""

    reason = enums_pb2.ERROR_REASON_SANDBOX_FAULT
    code = grpc.StatusCode.INTERNAL


class IntegrityFailure(ServerFault):
    """Stored bytes do not match their digest."""

    reason = enums_pb2.ERROR_REASON_INTEGRITY_FAILURE
    code = grpc.StatusCode.DATA_LOSS


class StorageFull(ServerFault):
    """The disk is full."""

    reason = enums_pb2.ERROR_REASON_STORAGE_FULL
    code = grpc.StatusCode.RESOURCE_EXHAUSTED


class Internal(ServerFault):
    """A fault of the server itself."""

    reason = enums_pb2.ERROR_REASON_INTERNAL
    code = grpc.StatusCode.INTERNAL


FAULTS: Final[tuple[type[ServerFault], ...]] = (
    InvalidRequest,
    NotFound,
    NotCertified,
    NotFrozen,
    NotRetired,
    ReadOnly,
    EditionRetired,
    NotSealed,
    BankIncomplete,
    BankSealed,
    AlreadyDone,
    Expired,
    CohortTooSmall,
    PartiesMixed,
    GrantNotOpen,
    BudgetSpent,
    CaseUnknown,
    AnswerTooLong,
    DigestConflict,
    CaseDuplicate,
    TokenMissing,
    TokenRefused,
    ScopeMissing,
    QueueFull,
    Unavailable,
    SandboxUnusable,
    IntegrityFailure,
    StorageFull,
    Internal,
)

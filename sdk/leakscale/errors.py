"""Every error the SDK raises.

    LeakScaleError
    ├── InvalidRequestError          a value breaks a rule
    │   ├── CaseUnknownError
    │   └── AnswerTooLongError
    ├── NotFoundError                a named thing does not exist
    ├── PreconditionError            right request, wrong moment
    │   ├── NotCertifiedError
    │   ├── NotFrozenError
    │   ├── NotRetiredError
    │   ├── ReadOnlyError
    │   ├── EditionRetiredError
    │   ├── NotSealedError
    │   ├── BankIncompleteError
    │   ├── BankSealedError
    │   ├── AlreadyDoneError
    │   ├── GrantNotOpenError
    │   ├── ExpiredError
    │   ├── CohortTooSmallError
    │   ├── PartiesMixedError
    │   └── BudgetSpentError
    ├── ConflictError                the same name stands for something else already
    │   └── CaseDuplicateError
    ├── AuthenticationError          no token, or one that the server does not take
    ├── PermissionDeniedError        a token that is good, and not for this call
    ├── BusyError                    too much in flight; try again
    ├── UnavailableError             no server there, or it is starting or stopping
    ├── StorageFullError             a disk is full
    ├── DeadlineError                the call took longer than its deadline
    ├── IntegrityError               bytes do not match their digest or signature
    ├── ServerError                  a fault of the server, not of the request
    └── ModelError                   a model, tokenizer or adapter cannot be used as asked

A message names its subject, the rule, the value and the next step, in one line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

import grpc
from google.rpc import error_details_pb2
from google.rpc.status_pb2 import Status
from grpc_status import rpc_status

from leakscale.v1 import enums_pb2

__all__ = [
    "REASONS",
    "AlreadyDoneError",
    "AnswerTooLongError",
    "AuthenticationError",
    "BankIncompleteError",
    "BankSealedError",
    "BudgetSpentError",
    "BusyError",
    "CaseDuplicateError",
    "CaseUnknownError",
    "CohortTooSmallError",
    "ConflictError",
    "DeadlineError",
    "EditionRetiredError",
    "ExpiredError",
    "GrantNotOpenError",
    "IntegrityError",
    "InvalidRequestError",
    "LeakScaleError",
    "ModelError",
    "NotCertifiedError",
    "NotFoundError",
    "NotFrozenError",
    "NotRetiredError",
    "NotSealedError",
    "PartiesMixedError",
    "PermissionDeniedError",
    "PreconditionError",
    "ReadOnlyError",
    "ServerError",
    "StorageFullError",
    "UnavailableError",
    "from_rpc_error",
    "status_details",
]


class LeakScaleError(Exception):
    """Base of every error that the SDK raises on purpose."""


class InvalidRequestError(LeakScaleError):
    """A value breaks a rule; the message names both."""


class CaseUnknownError(InvalidRequestError):
    """A case that the bank does not have."""


class AnswerTooLongError(InvalidRequestError):
    """An answer over the length bound."""


class NotFoundError(LeakScaleError):
    """A named resource or file does not exist."""


class PreconditionError(LeakScaleError):
    """The request is right, the moment is wrong."""


class NotCertifiedError(PreconditionError):
    """A family of the edition has no certificate."""


class NotFrozenError(PreconditionError):
    """The edition is still a draft."""


class NotRetiredError(PreconditionError):
    """The edition is not retired, so its commitments stay closed."""


class ReadOnlyError(PreconditionError):
    """The server is a replica, which only reads."""


class EditionRetiredError(PreconditionError):
    """The edition is retired: its truth is in the open, and nothing can be measured with it any more."""


class NotSealedError(PreconditionError):
    """A bank of the experiment is not sealed."""


class BankIncompleteError(PreconditionError):
    """A bank to seal lacks answers; submit the rest, then seal."""


class BankSealedError(PreconditionError):
    """A bank was sealed by another request, or takes no more answers."""


class AlreadyDoneError(PreconditionError):
    """A grant was redeemed by an earlier request."""


class ExpiredError(PreconditionError):
    """The time that a plan gave its experiment is over."""


class CohortTooSmallError(PreconditionError):
    """Numbers would be over too few families, alone or as a difference of disclosed ones."""


class GrantNotOpenError(PreconditionError):
    """A grant waits for approval, or its time is over."""


class PartiesMixedError(PreconditionError):
    """One principal would redeem a grant and submit answers, in an experiment that does not say so."""


class BudgetSpentError(PreconditionError):
    """What may be disclosed over a part of a private edition is spent."""


class ConflictError(LeakScaleError):
    """The same name stands for something else already."""


class CaseDuplicateError(ConflictError):
    """A case that has its answer already; the first one stands."""


class AuthenticationError(LeakScaleError):
    """The call carried no token that the server takes: none, an unknown one, or one that has ended."""


class PermissionDeniedError(LeakScaleError):
    """The token lacks the scope of the call, or what is asked for is somebody else's to do."""


class BusyError(LeakScaleError):
    """Too much work is in flight on the server; try again."""


class UnavailableError(LeakScaleError):
    """No server answers there, or it is starting or stopping."""


class StorageFullError(LeakScaleError):
    """A disk is full; nothing that was acknowledged is lost."""


class DeadlineError(LeakScaleError):
    """The call took longer than its deadline."""


class IntegrityError(LeakScaleError):
    """Bytes do not match their digest or signature."""


class ServerError(LeakScaleError):
    """A fault of the server, not of the request."""


class ModelError(LeakScaleError):
    """A model, tokenizer or adapter cannot be used as asked."""


REASONS: Final[Mapping[int, type[LeakScaleError]]] = {
    enums_pb2.ERROR_REASON_INVALID_REQUEST: InvalidRequestError,
    enums_pb2.ERROR_REASON_NOT_FOUND: NotFoundError,
    enums_pb2.ERROR_REASON_NOT_CERTIFIED: NotCertifiedError,
    enums_pb2.ERROR_REASON_NOT_FROZEN: NotFrozenError,
    enums_pb2.ERROR_REASON_NOT_RETIRED: NotRetiredError,
    enums_pb2.ERROR_REASON_READ_ONLY: ReadOnlyError,
    enums_pb2.ERROR_REASON_EDITION_RETIRED: EditionRetiredError,
    enums_pb2.ERROR_REASON_NOT_SEALED: NotSealedError,
    enums_pb2.ERROR_REASON_BANK_INCOMPLETE: BankIncompleteError,
    enums_pb2.ERROR_REASON_BANK_SEALED: BankSealedError,
    enums_pb2.ERROR_REASON_ALREADY_DONE: AlreadyDoneError,
    enums_pb2.ERROR_REASON_GRANT_NOT_OPEN: GrantNotOpenError,
    enums_pb2.ERROR_REASON_EXPIRED: ExpiredError,
    enums_pb2.ERROR_REASON_COHORT_TOO_SMALL: CohortTooSmallError,
    enums_pb2.ERROR_REASON_PARTIES_MIXED: PartiesMixedError,
    enums_pb2.ERROR_REASON_BUDGET_SPENT: BudgetSpentError,
    enums_pb2.ERROR_REASON_CASE_UNKNOWN: CaseUnknownError,
    enums_pb2.ERROR_REASON_ANSWER_TOO_LONG: AnswerTooLongError,
    enums_pb2.ERROR_REASON_DIGEST_CONFLICT: ConflictError,
    enums_pb2.ERROR_REASON_CASE_DUPLICATE: CaseDuplicateError,
    enums_pb2.ERROR_REASON_TOKEN_MISSING: AuthenticationError,
    enums_pb2.ERROR_REASON_TOKEN_REFUSED: AuthenticationError,
    enums_pb2.ERROR_REASON_SCOPE_MISSING: PermissionDeniedError,
    enums_pb2.ERROR_REASON_QUEUE_FULL: BusyError,
    enums_pb2.ERROR_REASON_UNAVAILABLE: UnavailableError,
    enums_pb2.ERROR_REASON_SANDBOX_FAULT: ServerError,
    enums_pb2.ERROR_REASON_INTEGRITY_FAILURE: IntegrityError,
    enums_pb2.ERROR_REASON_STORAGE_FULL: StorageFullError,
    enums_pb2.ERROR_REASON_INTERNAL: ServerError,
}
"""Class that each `ErrorReason` of the wire raises; a test proves that none is missing."""

_CODES: Final[Mapping[grpc.StatusCode, type[LeakScaleError]]] = {
    grpc.StatusCode.UNAVAILABLE: UnavailableError,
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlineError,
    grpc.StatusCode.UNAUTHENTICATED: AuthenticationError,
    grpc.StatusCode.PERMISSION_DENIED: PermissionDeniedError,
    grpc.StatusCode.INVALID_ARGUMENT: InvalidRequestError,
    grpc.StatusCode.NOT_FOUND: NotFoundError,
    grpc.StatusCode.RESOURCE_EXHAUSTED: BusyError,
}


def from_rpc_error(error: grpc.RpcError, *, target: str) -> LeakScaleError:
    """Turn a failed call into the SDK's own error.

    The reason in the status details decides; a failure that never reached the service (no server, wrong protocol) has
    none, and its code decides.
    """
    status = _status_of(error) or Status()
    for detail in status.details:
        info = error_details_pb2.ErrorInfo()
        if detail.Is(info.DESCRIPTOR) and detail.Unpack(info) and info.domain == "leakscale":
            reason = enums_pb2.ErrorReason.Value(info.reason) if info.reason in enums_pb2.ErrorReason.keys() else 0  # noqa: SIM118
            return REASONS.get(reason, ServerError)(status.message)
    code, details = error.code(), error.details()
    if code is grpc.StatusCode.UNAVAILABLE:
        return UnavailableError(_unreachable(target, details or ""))
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED and "larger than max" in (details or ""):
        return InvalidRequestError(f"server at {target}: one message is too large ({details}); send less in one call")
    if code is grpc.StatusCode.CANCELLED:
        # We cancel calls only that nobody waits for: this one was cut off.
        return UnavailableError(
            f"server at {target}: it stopped during the call, or heard nothing of this client for long; call again, "
            "nothing stored is lost"
        )
    return _CODES.get(code, ServerError)(f"server at {target}: {code.name}: {details}")


def status_details(error: grpc.RpcError) -> list[Any]:
    """Return the details that came with a failed call, packed; nothing if none came."""
    status = _status_of(error)
    return list(status.details) if status else []


def _unreachable(target: str, details: str) -> str:
    """Say why no call gets through, by the words that gRPC has for a handshake that failed."""
    if "WRONG_VERSION_NUMBER" in details:
        return f"server at {target}: it speaks no TLS, and no token is sent in the clear; check --server, or drop --ca"
    if "CERTIFICATE_VERIFY_FAILED" in details or "ostname" in details:
        return (
            f"server at {target}: its certificate is not trusted, or is for another name; pass --ca with the authority "
            "that signed it, and a --server that the certificate names"
        )
    if "Socket closed" in details and "failed to connect" in details:
        return (
            f"server at {target}: it hangs up on us; if it speaks TLS, pass --ca, and --client-certificate with "
            "--client-key where it asks for them"
        )
    return f"no LeakScale server answers at {target}; start one with `leakscale server start` or check --server"


def _status_of(error: grpc.RpcError) -> Status | None:
    """Return the status in the trailing metadata; what is there and contradicts the call is no status."""
    try:
        return rpc_status.from_call(cast(grpc.Call, error))
    except ValueError:
        return None

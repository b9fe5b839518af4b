"""The scope that each method asks for.

A method that is not in the table is refused to everybody; a test holds the table complete against the protos.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from leakscale_server.identity.scopes import Scope

__all__ = ["METHOD_SCOPES", "OPEN_METHODS", "is_read", "scope_of"]

OPEN_METHODS: Final = frozenset({"/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch"})
"""Methods that need no token: they tell whether the server serves, and nothing of what it holds."""

_REFLECTION: Final = "/grpc.reflection."
"""Methods of gRPC's own that describe the services, where a server has them at all."""

_SERVICES: Final[Mapping[str, Mapping[str, Scope]]] = {
    "ServerService": {"GetServerInfo": Scope.SERVER_READ},
    "LedgerService": {
        "GetLedgerHead": Scope.LEDGER_READ,
        "ListLedgerEntries": Scope.LEDGER_READ,
        "GetInclusionProof": Scope.LEDGER_READ,
        "GetConsistencyProof": Scope.LEDGER_READ,
    },
    "EditionService": {
        "CreateEdition": Scope.EDITIONS_WRITE,
        "GetEdition": Scope.EDITIONS_READ,
        "ListEditions": Scope.EDITIONS_READ,
        "FreezeEdition": Scope.EDITIONS_WRITE,
        "ListFamilies": Scope.EDITIONS_READ,
        "GetFamily": Scope.EDITIONS_READ,
        "DownloadEdition": Scope.EDITIONS_READ,
        "RetireEdition": Scope.EDITIONS_WRITE,
        "ListOpenings": Scope.EDITIONS_READ,
    },
    "CertificationService": {"CertifyFamilies": Scope.EDITIONS_WRITE},
    "GrantService": {
        "RequestGrant": Scope.GRANTS_REQUEST,
        "ApproveGrant": Scope.GRANTS_APPROVE,
        "GetGrant": Scope.GRANTS_READ,
        "ListGrants": Scope.GRANTS_READ,
        "RedeemGrant": Scope.GRANTS_REDEEM,
        "TraceText": Scope.GRANTS_TRACE,
    },
    "ExperimentService": {
        "CreateExperiment": Scope.EXPERIMENTS_WRITE,
        "GetExperiment": Scope.EXPERIMENTS_READ,
        "WithdrawExperiment": Scope.EXPERIMENTS_WRITE,
        "DiscloseExperiment": Scope.DISCLOSURES_READ,
        "GetBudget": Scope.EXPERIMENTS_READ,
    },
    "BankService": {
        "GetBank": Scope.EXPERIMENTS_READ,
        "ListChunks": Scope.EXPERIMENTS_READ,
        "SubmitAnswers": Scope.EXPERIMENTS_WRITE,
        "SealBank": Scope.EXPERIMENTS_WRITE,
    },
    "AuditService": {
        "GetDepositKey": Scope.AUDITS_READ,
        "DepositAudit": Scope.AUDITS_DEPOSIT,
        "GetAudit": Scope.AUDITS_READ,
        "ListAudits": Scope.AUDITS_READ,
        "AmendAudit": Scope.AUDITS_DEPOSIT,
        "FetchForms": Scope.AUDITS_ANSWER,
        "ListFormAnswerChunks": Scope.AUDITS_ANSWER,
        "SubmitFormAnswers": Scope.AUDITS_ANSWER,
        "SealFormAnswers": Scope.AUDITS_ANSWER,
        "DownloadScores": Scope.AUDITS_READ,
    },
}

METHOD_SCOPES: Final[Mapping[str, Scope]] = {
    f"/leakscale.v1.{service}/{method}": scope
    for service, methods in _SERVICES.items()
    for method, scope in methods.items()
}
"""By the method's full name, as gRPC gives it."""


def scope_of(method: str) -> Scope | None:
    """Return the scope that a method takes, or None if it opens to nobody."""
    return Scope.SERVER_READ if method.startswith(_REFLECTION) else METHOD_SCOPES.get(method)


def is_read(method: str) -> bool:
    """Tell whether a method changes nothing."""
    scope = scope_of(method)
    return scope is not None and scope.is_read

"""Which calls may be said again when no answer came: each method of the wire, and why.

UNAVAILABLE does not say whether the server has done what it was asked. So a call is repeated by the channel only if it
changes nothing, or if the server sees that it is the same one and answers as it did before. A method that is not here
is not repeated; a test holds the table complete.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import Enum
from typing import Final

__all__ = ["METHODS", "Repeatable", "service_config"]


class Repeatable(Enum):
    """Why a call may be repeated, or why the channel does not do it."""

    READ = "it changes nothing"
    BY_REQUEST_ID = "the server knows it again by its request id"
    BY_NAME = "what it makes, ends or computes has a name and is there once: the first one stands and is returned again"
    BY_CALLER = (
        "it streams: gRPC waits for as long as a stream may take where it retries one whose server was killed before "
        "the first answer, so whoever called goes on with it by calling again"
    )


METHODS: Final[Mapping[str, Mapping[str, Repeatable]]] = {
    "ServerService": {"GetServerInfo": Repeatable.READ},
    "LedgerService": {
        "GetLedgerHead": Repeatable.READ,
        "ListLedgerEntries": Repeatable.READ,
        "GetInclusionProof": Repeatable.READ,
        "GetConsistencyProof": Repeatable.READ,
    },
    "EditionService": {
        "CreateEdition": Repeatable.BY_NAME,
        "GetEdition": Repeatable.READ,
        "ListEditions": Repeatable.READ,
        "FreezeEdition": Repeatable.BY_NAME,
        "ListFamilies": Repeatable.READ,
        "GetFamily": Repeatable.READ,
        "DownloadEdition": Repeatable.BY_CALLER,
        "RetireEdition": Repeatable.BY_NAME,
        "ListOpenings": Repeatable.READ,
    },
    "CertificationService": {"CertifyFamilies": Repeatable.BY_CALLER},
    "GrantService": {
        "RequestGrant": Repeatable.BY_REQUEST_ID,
        "ApproveGrant": Repeatable.BY_NAME,
        "GetGrant": Repeatable.READ,
        "ListGrants": Repeatable.READ,
        "RedeemGrant": Repeatable.BY_CALLER,
        "TraceText": Repeatable.READ,
    },
    "ExperimentService": {
        "CreateExperiment": Repeatable.BY_NAME,
        "GetExperiment": Repeatable.READ,
        "WithdrawExperiment": Repeatable.BY_NAME,
        "DiscloseExperiment": Repeatable.BY_NAME,
        "GetBudget": Repeatable.READ,
    },
    "BankService": {
        "GetBank": Repeatable.READ,
        "ListChunks": Repeatable.READ,
        "SubmitAnswers": Repeatable.BY_CALLER,
        "SealBank": Repeatable.BY_REQUEST_ID,
    },
    "AuditService": {
        "GetDepositKey": Repeatable.READ,
        "DepositAudit": Repeatable.BY_CALLER,
        "GetAudit": Repeatable.READ,
        "ListAudits": Repeatable.READ,
        "AmendAudit": Repeatable.BY_NAME,
        "FetchForms": Repeatable.BY_CALLER,
        "ListFormAnswerChunks": Repeatable.READ,
        "SubmitFormAnswers": Repeatable.BY_CALLER,
        "SealFormAnswers": Repeatable.BY_REQUEST_ID,
        "DownloadScores": Repeatable.BY_CALLER,
    },
}
"""By service and method."""

_POLICY: Final = {
    "maxAttempts": 3,
    "initialBackoff": "0.2s",
    "maxBackoff": "2s",
    "backoffMultiplier": 3,
    "retryableStatusCodes": ["UNAVAILABLE"],
}


def service_config() -> str:
    """Write the table as gRPC reads it: JSON with the methods that the channel repeats."""
    names = [
        {"service": f"leakscale.v1.{service}", "method": method}
        for service, methods in METHODS.items()
        for method, why in methods.items()
        if why is not Repeatable.BY_CALLER
    ]
    return json.dumps({"methodConfig": [{"name": names, "retryPolicy": _POLICY}]})

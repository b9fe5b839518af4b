"""Scopes, and the roles that are sets of them.

A scope lets its holder call methods, and nothing else: whose experiments and drafts a caller sees follows from its
project. No scope reads an association, a fixture or an expected output, for no method returns one. The corpus of an
exposure grant, with `grants:redeem`, is the one exception that the design makes, and it holds C2 only.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

__all__ = ["ROLE_SCOPES", "Role", "Scope"]


class Scope(StrEnum):
    """What a token may do."""

    EDITIONS_READ = "editions:read"
    EDITIONS_WRITE = "editions:write"
    """Draft, certify, freeze and retire."""
    GRANTS_READ = "grants:read"
    GRANTS_REQUEST = "grants:request"
    GRANTS_APPROVE = "grants:approve"
    GRANTS_REDEEM = "grants:redeem"
    GRANTS_TRACE = "grants:trace"
    """Ask whose corpus a text was met in."""
    EXPERIMENTS_READ = "experiments:read"
    EXPERIMENTS_WRITE = "experiments:write"
    """Register experiments, submit answers, seal banks."""
    DISCLOSURES_READ = "disclosures:read"
    AUDITS_READ = "audits:read"
    """Look at deposited audits, and have the scores of those whose answers are sealed."""
    AUDITS_DEPOSIT = "audits:deposit"
    """Deposit and amend."""
    AUDITS_ANSWER = "audits:answer"
    """Fetch forms without right answers, submit answers, seal them."""
    LEDGER_READ = "ledger:read"
    SERVER_READ = "server:read"

    @property
    def is_read(self) -> bool:
        """Whether methods of this scope change nothing."""
        return self.value.endswith(":read")


class Role(StrEnum):
    """Who a token is for."""

    AUTHOR = "author"
    TRAINER = "trainer"
    AUDITOR = "auditor"
    ADMIN = "admin"


_EVERYBODY: Final = frozenset({Scope.EDITIONS_READ, Scope.LEDGER_READ, Scope.SERVER_READ})

ROLE_SCOPES: Final[Mapping[Role, frozenset[Scope]]] = {
    Role.AUTHOR: _EVERYBODY
    | {
        Scope.EDITIONS_WRITE,
        Scope.EXPERIMENTS_READ,
        Scope.DISCLOSURES_READ,
        Scope.GRANTS_READ,
        Scope.GRANTS_APPROVE,
        Scope.GRANTS_TRACE,
        Scope.AUDITS_READ,
        Scope.AUDITS_DEPOSIT,
    },
    Role.TRAINER: _EVERYBODY | {Scope.GRANTS_READ, Scope.GRANTS_REQUEST, Scope.GRANTS_REDEEM},
    Role.AUDITOR: _EVERYBODY
    | {
        Scope.EXPERIMENTS_READ,
        Scope.EXPERIMENTS_WRITE,
        Scope.DISCLOSURES_READ,
        Scope.AUDITS_READ,
        Scope.AUDITS_ANSWER,
    },
    Role.ADMIN: frozenset(Scope),
}
"""The most that a token of a role may do."""

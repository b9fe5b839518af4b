"""Who makes a call. Handed from the gate to every handler as an argument.

Never a context variable: under concurrent calls one would be read by the wrong one (see `tests/server/test_access.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

from leakscale_server.identity.scopes import Role, Scope

__all__ = ["Caller"]


@dataclass(frozen=True, slots=True)
class Caller:
    """Whom a token stands for."""

    token_id: str
    """Public half of the token's name; it may stand in a log."""
    principal: str
    """Person or machine. Several tokens may belong to one; budgets and the two-party rule go by it."""
    project: str
    """Whose experiments, grants and drafts the caller sees."""
    role: Role
    scopes: frozenset[Scope]

"""Tokens in the registry: who may call, until when. The server reads what `leakscale-server token` writes beside it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from leakscale_server.errors import AlreadyDone, InvalidRequest, NotFound
from leakscale_server.identity.caller import Caller
from leakscale_server.identity.scopes import ROLE_SCOPES, Role, Scope
from leakscale_server.identity.token_text import digest_of, new_token
from leakscale_server.registry.names import check_id
from leakscale_server.store.database import InsertOnlyDatabase, Row

__all__ = ["IssuedToken", "StoredToken", "TokenRegistry"]

Clock = Callable[[], datetime]


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class StoredToken:
    """What the registry knows of a token."""

    caller: Caller
    digest: bytes
    """SHA-256 of its text, 32 bytes."""
    create_time: datetime
    expire_time: datetime | None
    """When it would end by itself; None for never."""
    revoke_time: datetime | None
    """When it was ended, or is to end because another took its place; None if neither."""

    @property
    def end_time(self) -> datetime | None:
        """When it stops being one, whatever the cause."""
        ends = [moment for moment in (self.expire_time, self.revoke_time) if moment is not None]
        return min(ends) if ends else None

    def has_ended(self, now: datetime) -> bool:
        """Tell whether it is one no more."""
        return self.end_time is not None and self.end_time <= now


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A new token with its text, which is told this once and kept nowhere."""

    stored: StoredToken
    text: str


class TokenRegistry:
    """Tokens of one server.

    Args:
        registry: The registry, which another process may hold open too.
        now: Clock, in UTC.
    """

    def __init__(self, registry: InsertOnlyDatabase, *, now: Clock = _utc_now) -> None:
        self._registry = registry
        self._now = now

    def create(
        self,
        *,
        principal: str,
        project: str,
        role: Role,
        lifetime: timedelta | None,
        scopes: Collection[Scope] = (),
    ) -> IssuedToken:
        """Issue a token.

        Args:
            principal: Whom it stands for, an id; several tokens may stand for one.
            project: Whose experiments, grants and drafts it reaches, an id.
            role: What it may do at most.
            lifetime: How long it holds; None for ever.
            scopes: What it may do if that is less than its role may; everything the role may, if empty.

        Raises:
            InvalidRequest: If an id is none, the lifetime is not positive, or a scope is beyond the role.
        """
        check_id(principal, field="principal")
        check_id(project, field="project")
        beyond = sorted(set(scopes) - ROLE_SCOPES[role])
        if beyond:
            raise InvalidRequest(
                f"scope {beyond[0]} is beyond the role {role}, which has {', '.join(sorted(ROLE_SCOPES[role]))}; "
                "leave it out or choose another role",
                subject="scopes",
            )
        if lifetime is not None and lifetime <= timedelta(0):
            raise InvalidRequest(
                f"lifetime {lifetime.total_seconds():.0f} s is not positive; choose a longer one", subject="lifetime"
            )
        caller = Caller("", principal, project, role, frozenset(scopes) or ROLE_SCOPES[role])
        return self._issue(caller, lifetime)

    def rotate(self, token_id: str, *, overlap: timedelta) -> IssuedToken:
        """Issue a token with the rights and the lifetime of another, which ends after the overlap.

        Raises:
            NotFound: If there is no such token.
            AlreadyDone: If it has ended.
            InvalidRequest: If the overlap is negative.
        """
        if overlap < timedelta(0):
            raise InvalidRequest(
                f"overlap {overlap.total_seconds():.0f} s is negative; use 0 or more", subject="overlap"
            )
        with self._registry.transaction():
            old = self.get(token_id)
            now = self._now()
            if old.has_ended(now):
                raise AlreadyDone(
                    f"token {token_id!r} ended {_said(old.end_time)}; create a new one", subject=f"tokens/{token_id}"
                )
            lifetime = None if old.expire_time is None else old.expire_time - old.create_time
            issued = self._issue(old.caller, lifetime)
            self._end(token_id, now + overlap)
        return issued

    def revoke(self, token_id: str) -> StoredToken:
        """End a token now; one that has ended stays as it is.

        Raises:
            NotFound: If there is no such token.
        """
        with self._registry.transaction():
            now = self._now()
            if not self.get(token_id).has_ended(now):
                self._end(token_id, now)
            return self.get(token_id)

    def get(self, token_id: str) -> StoredToken:
        """Return a token.

        Raises:
            NotFound: If there is none.
        """
        found = self.find(token_id)
        if found is None:
            raise NotFound(
                f"token {token_id[:80]!r} does not exist on this server; see `leakscale-server token list`",
                subject=f"tokens/{token_id}",
            )
        return found

    def find(self, token_id: str) -> StoredToken | None:
        """Return a token, or None if there is none."""
        row = self._registry.row(f"{_QUERY} WHERE tokens.token_id = ? GROUP BY tokens.token_id", (token_id,))
        return None if row is None else _stored(row)

    def list(self) -> list[StoredToken]:
        """Return all tokens, oldest first, those that have ended too."""
        rows = self._registry.rows(f"{_QUERY} GROUP BY tokens.token_id ORDER BY create_time, tokens.token_id")
        return [_stored(row) for row in rows]

    def _issue(self, caller: Caller, lifetime: timedelta | None) -> IssuedToken:
        token_id, text = new_token()
        now = self._now()
        row: Row = {
            "token_id": token_id,
            "principal": caller.principal,
            "project": caller.project,
            "role": caller.role.value,
            "scopes": " ".join(sorted(caller.scopes)),
            "digest": digest_of(text),
            "create_time": now.isoformat(),
            "expire_time": "" if lifetime is None else (now + lifetime).isoformat(),
        }
        if not self._registry.add("tokens", [row]):
            raise AlreadyDone(f"token id {token_id!r} was drawn twice; create the token again")
        return IssuedToken(self.get(token_id), text)

    def _end(self, token_id: str, moment: datetime) -> None:
        self._registry.add("token_ends", [{"token_id": token_id, "end_time": moment.isoformat()}])


# Times are ISO 8601 in UTC with the same number of digits, or without a fraction: compared after they are read.
_QUERY: Final = (
    "SELECT tokens.*, group_concat(token_ends.end_time, ' ') AS end_times "
    "FROM tokens LEFT JOIN token_ends ON token_ends.token_id = tokens.token_id"
)


def _stored(row: Row) -> StoredToken:
    ends = [datetime.fromisoformat(moment) for moment in (row["end_times"] or "").split()]
    return StoredToken(
        caller=Caller(
            token_id=row["token_id"],
            principal=row["principal"],
            project=row["project"],
            role=Role(row["role"]),
            scopes=frozenset(map(Scope, row["scopes"].split())),
        ),
        digest=row["digest"],
        create_time=datetime.fromisoformat(row["create_time"]),
        expire_time=datetime.fromisoformat(row["expire_time"]) if row["expire_time"] else None,
        revoke_time=min(ends) if ends else None,
    )


def _said(moment: datetime | None) -> str:
    return "never" if moment is None else f"at {moment:%Y-%m-%d %H:%M:%S} UTC"

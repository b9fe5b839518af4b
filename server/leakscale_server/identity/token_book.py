"""Tells whom a bearer token stands for: once a call, so from memory where it can."""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from leakscale_server.errors import TokenRefused
from leakscale_server.identity.bootstrap import BootstrapToken
from leakscale_server.identity.caller import Caller
from leakscale_server.identity.token_registry import StoredToken, TokenRegistry
from leakscale_server.identity.token_text import digest_of, id_of

__all__ = ["CACHE_AGE_S", "TokenBook"]

CACHE_AGE_S: Final = 2.0
"""How long a token is believed without another look at the registry: the delay of a revocation."""


@dataclass(frozen=True, slots=True)
class _Seen:
    stored: StoredToken
    read_at_s: float


class TokenBook:
    """Tokens that callers may bring: the registry's, and the bootstrap token.

    Only tokens that exist are kept in memory, so nobody can fill it by guessing. Expiry is looked at every time.

    Args:
        tokens: The registry's.
        bootstrap: The server's own.
        now: Clock for expiry, in UTC.
        monotonic_s: Clock for the age of what is in memory: it must not stand still when somebody sets the other.
    """

    def __init__(
        self,
        tokens: TokenRegistry,
        bootstrap: BootstrapToken,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tokens = tokens
        self._bootstrap = bootstrap
        self._now = now
        self._monotonic_s = monotonic_s
        self._seen: dict[str, _Seen] = {}

    def caller(self, text: str) -> Caller:
        """Return whom a token stands for.

        Raises:
            TokenRefused: If it is not one of this server's, or has ended; it does not say which.
        """
        token_id = id_of(text)
        stored = None if token_id is None else self._stored(token_id)
        # The digest is compared, and in constant time: how much of a guess is right must not show.
        if stored is None or not hmac.compare_digest(stored.digest, digest_of(text)):
            return self._bootstrap.caller(text)
        if stored.has_ended(self._now()):
            raise TokenRefused
        return stored.caller

    def _stored(self, token_id: str) -> StoredToken | None:
        seen = self._seen.get(token_id)
        now_s = self._monotonic_s()
        if seen is not None and now_s - seen.read_at_s < CACHE_AGE_S:
            return seen.stored
        stored = self._tokens.find(token_id)
        if stored is not None:
            self._seen[token_id] = _Seen(stored, now_s)
        return stored

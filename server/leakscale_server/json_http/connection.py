"""One HTTP connection, which is closed when no request comes of it."""

from __future__ import annotations

import asyncio
from typing import Final

from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["HEAD_TIME_S_MAX", "ImpatientConnection"]

HEAD_TIME_S_MAX: Final = 30.0
"""From the connection, or from the last answer, to the end of a request's headers."""


class ImpatientConnection(H11Protocol):
    """Uvicorn's connection with a deadline for the headers.

    Whoever says nothing, or a byte now and then, holds a place of the few that there are.
    """

    _head_deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for headers."""
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        if self._head_deadline is not None:
            self._head_deadline.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Begin to wait for the next headers."""
        super().on_response_complete()
        self._await_head()

    def _await_head(self) -> None:
        if self._head_deadline is not None:
            self._head_deadline.cancel()
        self._head_deadline = self.loop.call_later(HEAD_TIME_S_MAX, self._give_up)

    def _give_up(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.transport.abort()

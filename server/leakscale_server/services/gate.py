"""The gate every RPC passes: who calls, whether they may, whether there is room, and what an exception becomes.

One interceptor does it all, because an exception out of a handler would otherwise travel as UNKNOWN with its text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NoReturn

import grpc

from leakscale_server.errors import QueueFull, ScopeMissing, TokenMissing, Unauthenticated
from leakscale_server.identity.caller import Caller
from leakscale_server.identity.methods import OPEN_METHODS, scope_of
from leakscale_server.limits import CallLimits
from leakscale_server.services.admission import Admission
from leakscale_server.services.call_executor import CallExecutor
from leakscale_server.services.idle_streams import IdleStreams
from leakscale_server.services.kept_answers import KeptAnswers
from leakscale_server.services.observing import EndedCall, Observer
from leakscale_server.services.passage import GuardedMethod, Handler, Passage, Way, on_pool
from leakscale_server.services.strangers import Strangers

__all__ = ["Gate", "Identify"]

Identify = Callable[[str], Caller]
"""Tells whom a bearer token stands for, or raises `TokenRefused`."""


class Gate(grpc.ServerInterceptor):
    """Finds out who calls, checks the method's scope, counts calls, and translates what a handler raises.

    All of it comes before the request is even decoded, so a stranger learns nothing but that it is one. Handlers get a
    `Call` in place of gRPC's context.

    Args:
        identify: Tells whom a token stands for.
        limits: What one principal, one address without a token, and all together may ask for.
        observers: Told of each call when it has ended.
        executor: The server's threads. While they are full, calls are refused on others, where health checks always go.
    """

    def __init__(
        self,
        identify: Identify,
        *,
        limits: CallLimits,
        executor: CallExecutor,
        observers: Sequence[Observer] = (),
    ) -> None:
        self._identify = identify
        self._observers = observers
        self._admission = Admission(limits)
        self._strangers = Strangers(limits)
        self._executor = executor
        self._kept = KeptAnswers()
        self._idle = IdleStreams(limits.idle_stream_s)
        self._known: dict[str, GuardedMethod] = {}
        """By method, so that no call makes its own. As many as the server has methods."""

    def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Handler | None],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler | None:
        """Wrap the handler of one call of gRPC's."""
        handler = continuation(handler_call_details)
        if handler is None:
            return None
        method = handler_call_details.method
        known = self._known.get(method)
        if known is not None and known.inner is handler and not self._executor.is_full:
            return known.handler
        if method in OPEN_METHODS or self._executor.is_full:
            return self.guard(method, handler)
        self._known[method] = guarded = self._guarded(method, handler, way=self._let_through, kept=self._kept)
        return guarded.handler

    def guard(self, method: str, handler: Handler) -> Handler:
        """Wrap a handler for one call of another listener, which encodes what it answers itself."""
        if method in OPEN_METHODS:
            return on_pool(handler, self._executor.quick)
        if self._executor.is_full:
            return on_pool(self._guarded(method, handler, way=_no_room).handler, self._executor.quick)
        return self._guarded(method, handler, way=self._let_through).handler

    def _guarded(self, method: str, handler: Handler, *, way: Way, kept: KeptAnswers | None = None) -> GuardedMethod:
        return GuardedMethod(
            method,
            handler,
            way=way,
            recheck=lambda passage: self._identified(passage.metadata),
            ended=self._tell,
            idle=self._idle,
            kept=kept,
        )

    def _tell(self, ended: EndedCall) -> None:
        for observer in self._observers:
            observer(ended)

    def _let_through(self, passage: Passage) -> AbstractContextManager[None]:
        try:
            caller = passage.caller = self._identified(passage.metadata)
        except Unauthenticated:
            self._strangers.count(passage.peer)
            raise
        _check_scope(caller, passage.method)
        return self._admission.one_call(caller.principal, is_stream=passage.is_stream)

    def _identified(self, metadata: Mapping[str, str | bytes]) -> Caller:
        """Return who calls.

        Raises:
            TokenMissing: If there is no bearer token.
            TokenRefused: If the token stands for nobody.
        """
        scheme, _, token = str(metadata.get("authorization", "")).partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise TokenMissing
        return self._identify(token)


def _check_scope(caller: Caller, method: str) -> None:
    scope = scope_of(method)
    if scope is None or scope not in caller.scopes:
        raise ScopeMissing(
            f"the {caller.role} token {caller.token_id!r} does not open {method.rpartition('/')[2]}, which takes the "
            f"scope {scope or 'of nobody'}; use a token that has it",
            subject=scope or "",
        )


def _no_room(_passage: Passage) -> NoReturn:
    raise QueueFull("the server handles as many calls as it can; try again in a moment")

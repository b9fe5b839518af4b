"""How much one principal, and all together, may ask for at once. Who asks for more is told so, and when to ask again.

Nothing waits here: a call that is not served now is refused now. The limits are about numbers of calls and never about
what they hold, so that a refusal says nothing about any answer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final

from leakscale_server.errors import QueueFull
from leakscale_server.limits import CallLimits
from leakscale_server.services.allowance import Allowance

__all__ = ["Admission"]

_SOON_S: Final = 0.2
"""When to try again where calls are short: they are counted because they hold a thread."""
_LATER_S: Final = 2.0
"""The same where streams hold the place."""


@dataclass(slots=True)
class _Account:
    """What one principal has in flight and has left."""

    allowance: Allowance
    call_count: int = 0
    stream_count: int = 0


class _Counted:
    """A call that counts; a class and no generator for the sake of what every call pays."""

    __slots__ = ("_account", "_admission", "_is_stream")

    def __init__(self, admission: Admission, account: _Account, is_stream: bool) -> None:
        self._admission = admission
        self._account = account
        self._is_stream = is_stream

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        self._admission._ended(self._account, self._is_stream)


class Admission:
    """Counts calls in flight.

    Args:
        limits: How many are too many.
        monotonic_s: Clock for the rate.
    """

    def __init__(self, limits: CallLimits, *, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._monotonic_s = monotonic_s
        self._lock = threading.Lock()
        self._stream_count = 0
        self._accounts: dict[str, _Account] = {}

    def one_call(self, principal: str, *, is_stream: bool) -> AbstractContextManager[None]:
        """Count a call from now on until the block ends.

        Raises:
            QueueFull: If it is one too many; with the time after which there may be room.
        """
        with self._lock:
            account = self._account(principal)
            self._check(principal, account, is_stream=is_stream)
            account.call_count += 1
            account.stream_count += is_stream
            self._stream_count += is_stream
        return _Counted(self, account, is_stream)

    def _ended(self, account: _Account, is_stream: bool) -> None:
        with self._lock:
            account.call_count -= 1
            account.stream_count -= is_stream
            self._stream_count -= is_stream

    def _account(self, principal: str) -> _Account:
        """Return the account of a principal. There are as many as principals with a token."""
        account = self._accounts.get(principal)
        if account is None:
            limits = self._limits
            allowance = Allowance(per_s=limits.principal_calls_per_s, burst_s=limits.burst_s, now_s=self._monotonic_s())
            account = self._accounts[principal] = _Account(allowance)
        return account

    def _check(self, principal: str, account: _Account, *, is_stream: bool) -> None:
        limits = self._limits
        if is_stream and self._stream_count >= limits.stream_count_max:
            raise QueueFull(
                f"{limits.stream_count_max} streams are open and no more are served; try again when one has ended",
                retry_after_s=_LATER_S,
            )
        if is_stream and account.stream_count >= limits.principal_stream_count_max:
            raise QueueFull(
                f"principal {principal!r} has {account.stream_count} streams open, which is the most; end one, or wait",
                retry_after_s=_LATER_S,
            )
        if account.call_count >= limits.principal_call_count_max:
            raise QueueFull(
                f"principal {principal!r} has {account.call_count} calls in flight, which is the most; wait for one",
                retry_after_s=_SOON_S,
            )
        # Last, for it takes what it finds.
        missing_s = account.allowance.take(self._monotonic_s())
        if missing_s:
            raise QueueFull(
                f"principal {principal!r} begins more than {limits.principal_calls_per_s:g} calls a second; slow down",
                retry_after_s=max(missing_s, _SOON_S),
            )

"""Waiting for a server that says that it is busy, and saying again what it did not hear."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any, Final

import grpc
from google.rpc import error_details_pb2

from leakscale.errors import status_details

__all__ = ["Patience", "Requests"]

_KEPT_MAX: Final = 16
"""Messages of a stream that are kept until it is clear that the server takes it."""


class Patience:
    """Waits as long as a busy server says, and no longer than the caller has time.

    Only a call that was refused before anything was done says when to come back: it may be repeated, whatever it is.

    Args:
        time_s: How long the caller has.
    """

    def __init__(self, time_s: float) -> None:
        self._end_s = time.monotonic() + time_s

    @property
    def left_s(self) -> float:
        """Seconds that are left, never less than a millisecond."""
        return max(self._end_s - time.monotonic(), 0.001)

    def waits(self, error: grpc.RpcError) -> bool:
        """Wait before the call is repeated; False if it is not to be."""
        asked_s = _asked_s(error)
        if asked_s is None:
            return False
        # Clients that were refused together must not come back together.
        pause_s = asked_s * random.uniform(1, 2)  # noqa: S311 - nobody's secret
        if pause_s >= self.left_s:
            return False
        time.sleep(pause_s)
        return True


def _asked_s(error: grpc.RpcError) -> float | None:
    if error.code() is not grpc.StatusCode.RESOURCE_EXHAUSTED:
        return None
    retry = error_details_pb2.RetryInfo()
    for detail in status_details(error):
        if detail.Is(retry.DESCRIPTOR) and detail.Unpack(retry):
            return float(retry.retry_delay.ToTimedelta().total_seconds())
    return None


class Requests:
    """Requests on their way into a stream, which may have to be said from the start again.

    gRPC reads them in a thread of its own, where an exception would be logged and lost. So the stream ends there, which
    every RPC of ours takes as a part that may be gone on with, and the exception is raised where the call was made.

    The first ones are kept. Once more than those were read, the server must have begun to listen, and they are let go.
    """

    def __init__(self, requests: Iterable[Any]) -> None:
        self._requests = iter(requests)
        self._lock = threading.Lock()
        self._kept: list[Any] = []
        self._let_go_count = 0
        self._attempt = 0
        self.failure: Exception | None = None

    @property
    def can_repeat(self) -> bool:
        """Whether all that was read is still here."""
        return self._let_go_count == 0

    def attempt(self) -> Iterator[Any]:
        """Read from the start. An attempt before this one reads no more, though its thread may not know yet."""
        self._attempt += 1
        return self._read(self._attempt)

    def _read(self, attempt: int) -> Iterator[Any]:
        position = 0
        while True:
            try:
                with self._lock:
                    request = self._at(position, attempt)
            except StopIteration:
                return
            except Exception as error:
                self.failure = error
                return
            yield request
            position += 1

    def _at(self, position: int, attempt: int) -> Any:
        while attempt == self._attempt and position - self._let_go_count >= len(self._kept):
            self._kept.append(next(self._requests))
        if attempt != self._attempt:
            raise StopIteration
        request = self._kept[position - self._let_go_count]
        if position >= _KEPT_MAX:
            del self._kept[: position - self._let_go_count + 1]
            self._let_go_count = position + 1
        return request

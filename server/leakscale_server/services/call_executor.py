"""Threads for calls, with an end to the queue before them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

__all__ = ["CallExecutor"]

P = ParamSpec("P")
T = TypeVar("T")


class CallExecutor(ThreadPoolExecutor):
    """A pool of threads that says when so many calls wait that the next had better come back later.

    It takes every call that it is given: whoever gives them asks first. `quick` is a small pool beside it for what must
    never wait: refusals and health checks.

    Args:
        thread_count: Calls that are handled at once.
        waiting_count_max: Calls that may wait for a thread.
    """

    def __init__(self, thread_count: int, *, waiting_count_max: int) -> None:
        super().__init__(thread_count, thread_name_prefix="rpc")
        self.quick = ThreadPoolExecutor(2, thread_name_prefix="rpc-quick")
        self._count_max = thread_count + waiting_count_max
        self._count = 0
        self._lock = threading.Lock()

    @property
    def call_count(self) -> int:
        """Calls that are handled or wait for a thread."""
        return self._count

    @property
    def is_full(self) -> bool:
        """Whether all threads are taken and as many calls wait as may."""
        return self._count >= self._count_max

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a call when a thread is free."""
        with self._lock:
            self._count += 1
        try:
            future = super().submit(fn, *args, **kwargs)
        except BaseException:
            self._ended(None)
            raise
        future.add_done_callback(self._ended)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more calls, and wait for those that run."""
        super().shutdown(wait, cancel_futures=cancel_futures)
        self.quick.shutdown(wait, cancel_futures=cancel_futures)

    def _ended(self, _future: Future[T] | None) -> None:
        with self._lock:
            self._count -= 1

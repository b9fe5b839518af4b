"""Threads for calls, with an end to the queue before them."""

from __future__ import annotations

import functools
import queue
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeAlias, TypeVar

__all__ = ["CallExecutor"]

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Task:
    future: Future[Any]
    run: Callable[[], Any]


_Inbox: TypeAlias = "queue.SimpleQueue[_Task | None]"
"""Of one thread. None ends it."""


class CallExecutor(ThreadPoolExecutor):
    """A pool of threads that says when so many calls wait that the next had better come back later.

    A call goes to the thread that became free last, whose stack and data the processor still has; the library's own
    pool wakes the one that rested longest, which costs a look-up a fifth of its time once many threads were started. So
    this one has threads and a queue of its own; it is a `ThreadPoolExecutor` by the name, which gRPC asks for.

    It takes every call that it is given: whoever gives them asks first. `quick` is a small pool beside it for what must
    never wait: refusals and health checks.

    Args:
        thread_count: Calls that are handled at once.
        waiting_count_max: Calls that may wait for a thread.
    """

    def __init__(self, thread_count: int, *, waiting_count_max: int) -> None:
        super().__init__(thread_count)
        self.quick = ThreadPoolExecutor(2, thread_name_prefix="rpc-quick")
        self._thread_count_max = thread_count
        self._call_count_max = thread_count + waiting_count_max
        self._guard = threading.Lock()
        self._workers: list[threading.Thread] = []
        self._free: list[_Inbox] = []
        """Of the threads that have nothing to do, the one that became free last at the end."""
        self._line: deque[_Task] = deque()
        """What waits while no thread is free."""
        self._is_closed = False

    @property
    def call_count(self) -> int:
        """Calls that are handled or wait for a thread."""
        return len(self._workers) - len(self._free) + len(self._line)

    @property
    def is_full(self) -> bool:
        """Whether all threads are taken and as many calls wait as may."""
        return self.call_count >= self._call_count_max

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a call when a thread is free.

        Raises:
            RuntimeError: If it takes no more calls.
        """
        future: Future[T] = Future()
        task = _Task(future, functools.partial(fn, *args, **kwargs))
        with self._guard:
            if self._is_closed:
                raise RuntimeError("the pool of threads takes no more calls")
            if self._free:
                self._free.pop().put(task)
            elif len(self._workers) < self._thread_count_max:
                self._begin(task)
            else:
                self._line.append(task)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more calls, and wait for those that run and those that wait."""
        with self._guard:
            self._is_closed = True
            dropped = list(self._line) if cancel_futures else []
            for task in dropped:
                self._line.remove(task)
            for inbox in self._free:
                inbox.put(None)
            self._free.clear()
        for task in dropped:
            task.future.cancel()
        if wait:
            for worker in self._workers:
                worker.join()
        super().shutdown(wait)
        self.quick.shutdown(wait, cancel_futures=cancel_futures)

    def _begin(self, task: _Task) -> None:
        inbox: _Inbox = queue.SimpleQueue()
        inbox.put(task)
        worker = threading.Thread(target=self._work, args=(inbox,), name=f"rpc-{len(self._workers)}", daemon=True)
        worker.start()
        self._workers.append(worker)

    def _work(self, inbox: _Inbox) -> None:
        task = inbox.get()
        while task is not None:
            _perform(task)
            task = None  # it holds a request, which must not stay until the next one
            task = self._next(inbox) or inbox.get()

    def _next(self, inbox: _Inbox) -> _Task | None:
        """Return what waits; if nothing does, say that this thread is free, or let it end."""
        with self._guard:
            if self._line:
                return self._line.popleft()
            if self._is_closed:
                inbox.put(None)
            else:
                self._free.append(inbox)
        return None


def _perform(task: _Task) -> None:
    """Run a task, unless it was cancelled, and tell how it went."""
    if not task.future.set_running_or_notify_cancel():
        return
    try:
        result = task.run()
    except BaseException as error:
        task.future.set_exception(error)
    else:
        task.future.set_result(result)

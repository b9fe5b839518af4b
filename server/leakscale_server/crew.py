"""Threads that work on what a stream brings, and answer in the order in which they are done."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from leakscale_server.errors import Unavailable

__all__ = ["Crew"]

Request = TypeVar("Request")
Answer = TypeVar("Answer")

_READ_AHEAD: Final = 4
"""Requests a worker that may be taken from a stream and not yet be answered to its reader."""


class Crew:
    """Works on any number of streams at once, `worker_count` requests of each at a time."""

    def __init__(self, worker_count: int) -> None:
        self._worker_count = worker_count
        self._is_stopping = threading.Event()
        self._feeds: set[threading.Thread] = set()

    def run(self, requests: Iterable[Request], work: Callable[[int, Request], Answer]) -> Iterator[Answer]:
        """Yield what `work` makes of each request, as soon as it is done.

        Reading goes on beside answering, since a client may wait for an answer before it sends the next request; but
        only so far ahead of a reader that does not read. Leaving the iterator drops the requests not begun yet.

        Args:
            requests: Read on a thread of its own.
            work: Called on several threads with the request's number in the stream, from 0.

        Raises:
            Unavailable: If the crew is told to stop; requests answered before stay answered.
            Exception: What `requests` or `work` raises, at the place of the answer.
        """
        results: queue.SimpleQueue[tuple[Answer] | BaseException | None] = queue.SimpleQueue()
        unread = threading.Semaphore(_READ_AHEAD * self._worker_count)
        is_abandoned = threading.Event()

        def answer(number: int, request: Request) -> None:
            try:
                if self._is_stopping.is_set():
                    raise Unavailable("the server is stopping; repeat the call, and it goes on after the last answer")
                if not is_abandoned.is_set():
                    results.put((work(number, request),))
            except BaseException as error:
                results.put(error)

        def feed() -> None:
            try:
                with ThreadPoolExecutor(self._worker_count, thread_name_prefix="crew") as executor:
                    for number, request in enumerate(requests):
                        unread.acquire()
                        if is_abandoned.is_set():
                            break
                        executor.submit(answer, number, request)
            except BaseException as error:
                results.put(error)
            finally:
                results.put(None)
                self._feeds.discard(threading.current_thread())

        thread = threading.Thread(target=feed, name="crew-feed", daemon=True)
        self._feeds.add(thread)
        thread.start()
        try:
            while (result := results.get()) is not None:
                if isinstance(result, BaseException):
                    raise result
                yield result[0]
                # Only now: a client that sends and does not read must not fill our memory with answers.
                unread.release()
        finally:
            is_abandoned.set()
            unread.release()

    def stop(self) -> None:
        """Let requests in work end and begin no more."""
        self._is_stopping.set()

    def close(self) -> None:
        """Stop, and wait until nothing is in work."""
        self.stop()
        for feed in list(self._feeds):
            feed.join()

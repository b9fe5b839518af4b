"""Calls to the scorer over one socket, several in flight."""

from __future__ import annotations

import itertools
import queue
import socket
import threading
from collections.abc import Iterator
from typing import Any, Final, NoReturn

from leakscale_server.errors import Unavailable
from leakscale_server.scorer.operations import Operation, decode_fault
from leakscale_server.scorer.wire import Frame, FrameKind, WireError, read_frame, write_frame

__all__ = ["Connection", "scorer_is_gone"]

_GONE: Final = None
"""In a call's queue: the scorer will not answer."""


def scorer_is_gone() -> NoReturn:
    """Say that the scorer cannot be asked now.

    Raises:
        Unavailable: With the time after which to ask again.
    """
    raise Unavailable(
        "the scorer ended and is being started again; repeat the call in a few seconds, nothing acknowledged is lost"
    )


class Connection:
    """One socket to one scorer. Safe to use from several threads.

    Answers wait in memory until their caller reads them: a caller that reads slowly holds no other caller up. They are
    kept as they came, and decoded one by one.
    """

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._numbers = itertools.count()
        self._writing = threading.Lock()
        self._changing = threading.Lock()
        self._waiting: dict[int, queue.SimpleQueue[Frame | None]] = {}
        self._is_lost = False
        self._reader = threading.Thread(target=self._read, name="scorer-answers", daemon=True)
        self._reader.start()

    def ask(self, operation: Operation, *arguments: object) -> Any:
        """Call and wait for the answer.

        Raises:
            ServerFault: What the scorer ended the call with.
            Unavailable: If the scorer is gone, or goes before it answered.
        """
        (answer,) = self._frames(operation, arguments)
        return operation.decode_answer(answer.body)

    def ask_items(self, operation: Operation, *arguments: object) -> Iterator[Any]:
        """Call and yield the items of the answer; raises as `ask`, at any item."""
        for frame in self._frames(operation, arguments):
            if frame.kind is FrameKind.PART:
                yield operation.decode_answer(frame.body)

    def wait_until_lost(self) -> None:
        """Return once the scorer has closed its end."""
        self._reader.join()

    def close(self) -> None:
        """Tell the scorer to end: it sees its socket close."""
        try:
            self._channel.shutdown(socket.SHUT_WR)
        except OSError:
            return  # it has gone first

    def _frames(self, operation: Operation, arguments: tuple[object, ...]) -> Iterator[Frame]:
        """Send a request and yield what comes back, up to the answer."""
        answers: queue.SimpleQueue[Frame | None] = queue.SimpleQueue()
        call_id = next(self._numbers)
        with self._changing:
            if self._is_lost:
                scorer_is_gone()
            self._waiting[call_id] = answers
        try:
            self._send(Frame(call_id, FrameKind.REQUEST, operation.encode_request(*arguments)))
            kind = FrameKind.REQUEST
            while kind is not FrameKind.ANSWER:
                frame = answers.get()
                if frame is _GONE:
                    scorer_is_gone()
                if frame.kind is FrameKind.FAULT:
                    raise decode_fault(frame.body)
                kind = frame.kind
                yield frame
        finally:
            with self._changing:
                self._waiting.pop(call_id, None)

    def _send(self, frame: Frame) -> None:
        try:
            with self._writing:
                write_frame(self._channel, frame)
        except OSError:
            scorer_is_gone()

    def _read(self) -> None:
        try:
            while (frame := read_frame(self._channel)) is not None:
                with self._changing:
                    waiting = self._waiting.get(frame.call_id)
                # None: the caller went away in the midst of its items.
                if waiting is not None:
                    waiting.put(frame)
        except (WireError, OSError):
            pass  # as good as closed
        finally:
            with self._changing:
                self._is_lost = True
                for waiting in self._waiting.values():
                    waiting.put(_GONE)
            self._channel.close()

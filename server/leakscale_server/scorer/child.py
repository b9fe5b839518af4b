"""The scorer's process: answers one parent over one inherited socket, and ends when that closes.

It listens on nothing. The kernel lets no other process of the same user read its memory, and writes no core file of it;
root reads it all the same.
"""

from __future__ import annotations

import ctypes
import operator
import os
import resource
import signal
import socket
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final

import structlog

from leakscale_server.config import ConfigError
from leakscale_server.errors import Internal
from leakscale_server.logs import configure_log
from leakscale_server.sandbox_pool import BackendUnavailable, SandboxFault
from leakscale_server.scorer.contract import Scoring
from leakscale_server.scorer.opening import open_scorer
from leakscale_server.scorer.operations import OPEN, OPERATIONS, encode_fault
from leakscale_server.scorer.wire import Frame, FrameKind, WireError, read_frame, write_frame
from leakscale_server.translation import place_of, to_fault

__all__ = ["run"]

_log = structlog.get_logger()
_PR_SET_DUMPABLE: Final = 4
_OTHER_THREADS: Final = 8
"""For calls that use no sandbox, so that they need not wait for those that do."""
_STARTS_NOT: Final = (ConfigError, BackendUnavailable, SandboxFault, OSError, sqlite3.Error, ValueError)
"""What a start may end with that its starter can do something about."""


def run(channel: socket.socket) -> None:
    """Serve the other end of a socket until it closes, then end this process."""
    configure_log(process="scorer")
    _keep_memory_private()
    # The parent drains its calls first and then closes the socket; a signal to the whole group is its business.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    first = read_frame(channel)
    if first is None:
        return
    try:
        settings = OPEN.arguments.validate_json(first.body.partition(b"\n")[2])[0]
        with open_scorer(settings) as scorer:
            write_frame(channel, Frame(first.call_id, FrameKind.ANSWER, OPEN.encode_answer(scorer.sandbox)))
            _Calls(channel, scorer).serve()
    except _STARTS_NOT as error:
        with suppress(OSError):  # the server ended meanwhile, and nobody reads why
            write_frame(channel, Frame(first.call_id, FrameKind.FAULT, encode_fault(Internal(str(error)))))
    # An analysis may go on for seconds, and nobody waits for it any more.
    os._exit(0)


class _Calls:
    """Calls in work, several at once."""

    def __init__(self, channel: socket.socket, scorer: Scoring) -> None:
        self._channel = channel
        self._scorer = scorer
        self._writing = threading.Lock()
        lane_count = scorer.sandbox.lane_count
        self._proving = ThreadPoolExecutor(2 * lane_count, thread_name_prefix="certify")
        self._other = ThreadPoolExecutor(_OTHER_THREADS, thread_name_prefix="score")

    def serve(self) -> None:
        """Take calls until the parent is gone."""
        try:
            while (frame := read_frame(self._channel)) is not None:
                is_proof = frame.body.startswith(b"certify\n")
                (self._proving if is_proof else self._other).submit(self._answer, frame)
        except (WireError, OSError) as error:
            _log.error("parent lost", error=type(error).__name__)
        for executor in (self._proving, self._other):
            executor.shutdown(wait=False, cancel_futures=True)

    def _answer(self, request: Frame) -> None:
        name, _, body = request.body.partition(b"\n")
        try:
            operation = OPERATIONS[name.decode()]
            method: Callable[..., object] = operator.attrgetter(operation.name)(self._scorer)
            answer = method(*operation.arguments.validate_json(body))
            if operation.is_itemized:
                for item in answer:  # type: ignore[attr-defined]
                    self._write(Frame(request.call_id, FrameKind.PART, operation.encode_answer(item)))
                self._write(Frame(request.call_id, FrameKind.ANSWER, b""))
            else:
                self._write(Frame(request.call_id, FrameKind.ANSWER, operation.encode_answer(answer)))
        except Exception as error:
            fault = to_fault(error)
            if isinstance(fault, Internal):
                # The class and the place, never the text: a message may quote what must stay private.
                _log.error("call failed", call=name.decode(), error=type(error).__name__, place=place_of(error))
            self._write(Frame(request.call_id, FrameKind.FAULT, encode_fault(fault)))

    def _write(self, frame: Frame) -> None:
        try:
            with self._writing:
                write_frame(self._channel, frame)
        except OSError:
            return  # The parent is gone; the reader sees it too, and ends this process.


def _keep_memory_private() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)

"""A byte pipe to a worker that is a child process of the server."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import threading
from collections.abc import Iterator

from leakscale_sandbox.wire import JOB_HEADER
from leakscale_server.sandbox_pool.lanes import LaneError, seconds_left, wait_for

__all__ = ["PipeChannel"]

_READ_BYTES = 1 << 18
_END_S_MAX = 5.0


class PipeChannel:
    """See `Channel`. Both pipes are non-blocking, so that a deadline holds in either direction.

    Any thread may close it while another one waits for an answer: the descriptors go only when nobody uses them, since
    their numbers may be another file's a moment later.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None  # noqa: S101 - for the type checker: started with pipes
        assert process.stdout is not None  # noqa: S101
        assert process.stderr is not None  # noqa: S101
        self._process = process
        self._stdin, self._stdout = process.stdin.fileno(), process.stdout.fileno()
        self._stderr = process.stderr.fileno()
        self._streams = (process.stdin, process.stdout, process.stderr)
        for stream in self._streams:
            os.set_blocking(stream.fileno(), False)
        self._output = bytearray()
        self._closing = threading.Lock()
        self._in_use = threading.Lock()
        self._has_spoken = False
        self._is_closed = False

    @property
    def process_id(self) -> int:
        """Return the number of the process that was started."""
        return self._process.pid

    def send(self, data: bytes, *, deadline: float) -> None:
        """See `Channel.send`."""
        view = memoryview(data)
        with self._using("takes no input"):
            while view:
                _wait(self._stdin, select.POLLOUT, deadline)
                view = view[os.write(self._stdin, view) :]

    def receive(self, byte_count: int, *, deadline: float) -> bytes:
        """See `Channel.receive`."""
        with self._using("does not answer"):
            while len(self._output) < byte_count:
                _wait(self._stdout, select.POLLIN, deadline)
                piece = os.read(self._stdout, _READ_BYTES)
                if not piece:
                    raise LaneError(f"the worker ended: {self._complaint()}")
                self._output += piece
                self._has_spoken = True
        received = bytes(self._output[:byte_count])
        del self._output[:byte_count]
        return received

    def has_pending(self) -> bool:
        """See `Channel.has_pending`."""
        with self._using("does not answer"):
            return bool(self._output) or wait_for(self._stdout, select.POLLIN, seconds=0)

    def close(self) -> None:
        """See `Channel.close`. The jail dies with its parent, which is the process killed here."""
        with self._closing:
            if self._is_closed:
                return
            if not self._has_spoken:
                self._end_unheard()
            self._process.kill()
            self._process.wait(_END_S_MAX)
            # Whoever waits for the worker sees its end now, and lets go.
            with self._in_use:
                self._is_closed = True
                for stream in self._streams:
                    with contextlib.suppress(OSError):
                        stream.close()

    def _end_unheard(self) -> None:
        """Let a worker end that may not have started yet.

        Killed while it is being made, a jail is left behind for good: its inner process waits for a word of the outer
        one. So it is given what no worker takes for a job, and time to read it.
        """
        with contextlib.suppress(OSError):
            os.write(self._stdin, bytes(JOB_HEADER.size))
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_S_MAX)

    @contextlib.contextmanager
    def _using(self, complaint: str) -> Iterator[None]:
        """Keep the descriptors open meanwhile.

        Raises:
            LaneError: If they are closed already, or the worker is gone.
        """
        with self._in_use:
            if self._is_closed:
                raise LaneError("the lane is closed")
            try:
                yield
            except OSError as error:
                raise LaneError(f"the worker {complaint}: {self._complaint() or error}") from error

    def _complaint(self) -> str:
        """Return the end of what the worker wrote to standard error."""
        try:
            return os.read(self._stderr, _READ_BYTES)[-500:].decode(errors="replace").strip()
        except OSError:
            return ""


def _wait(descriptor: int, event: int, deadline: float) -> None:
    if not wait_for(descriptor, event, seconds=seconds_left(deadline)):
        raise LaneError("the deadline passed")

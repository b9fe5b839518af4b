"""A byte pipe to a worker that is a child process of the server."""

from __future__ import annotations

import os
import select
import subprocess

from leakscale_server.sandbox_pool.lanes import LaneError, seconds_left, wait_for

__all__ = ["PipeChannel"]

_READ_BYTES = 1 << 18
_END_S_MAX = 5.0


class PipeChannel:
    """See `Channel`. Both pipes are non-blocking, so that a deadline holds in either direction."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None  # noqa: S101 - for the type checker: started with pipes
        assert process.stdout is not None  # noqa: S101
        assert process.stderr is not None  # noqa: S101
        self._process = process
        self._input, self._errors = process.stdin, process.stderr
        self._stdin, self._stdout = process.stdin.fileno(), process.stdout.fileno()
        self._streams = (process.stdin, process.stdout, process.stderr)
        for stream in self._streams:
            os.set_blocking(stream.fileno(), False)
        self._output = bytearray()

    @property
    def process_id(self) -> int:
        """Return the number of the process that was started."""
        return self._process.pid

    def send(self, data: bytes, *, deadline: float) -> None:
        """See `Channel.send`."""
        view = memoryview(data)
        try:
            while view:
                _wait(self._stdin, select.POLLOUT, deadline)
                view = view[os.write(self._stdin, view) :]
        except OSError as error:
            raise LaneError(f"the worker takes no input: {self._complaint() or error}") from error

    def receive(self, byte_count: int, *, deadline: float) -> bytes:
        """See `Channel.receive`."""
        while len(self._output) < byte_count:
            _wait(self._stdout, select.POLLIN, deadline)
            piece = os.read(self._stdout, _READ_BYTES)
            if not piece:
                raise LaneError(f"the worker ended: {self._complaint()}")
            self._output += piece
        received = bytes(self._output[:byte_count])
        del self._output[:byte_count]
        return received

    def has_pending(self) -> bool:
        """See `Channel.has_pending`."""
        return bool(self._output) or wait_for(self._stdout, select.POLLIN, seconds=0)

    def close(self) -> None:
        """See `Channel.close`. The jail dies with its parent, which is the process killed here."""
        self._process.kill()
        self._process.wait(_END_S_MAX)
        for stream in self._streams:
            stream.close()

    def _complaint(self) -> str:
        """Return the end of what the worker wrote to standard error."""
        try:
            return os.read(self._errors.fileno(), _READ_BYTES)[-500:].decode(errors="replace").strip()
        except OSError:
            return ""


def _wait(descriptor: int, event: int, deadline: float) -> None:
    if not wait_for(descriptor, event, seconds=seconds_left(deadline)):
        raise LaneError("the deadline passed")

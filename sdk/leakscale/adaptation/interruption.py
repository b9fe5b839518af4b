"""Put Ctrl-C and SIGTERM off to the end of an optimizer step, so that what was trained until then can be kept."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Final

__all__ = ["Interruption", "Note", "interruptions_put_off"]

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_WAITING: Final = "stopping after this step, which is kept; once more stops at once"

Note = Callable[[str], None]
"""Is told one line for people."""
_Handler = Callable[[int, FrameType | None], object] | int


class Interruption:
    """Whether somebody asked this process to stop."""

    def __init__(self) -> None:
        self.signal_number: int | None = None
        """What came; None while nothing did."""
        self.handlers: dict[int, _Handler] = {}
        """Who is told in the end."""

    def pass_on(self, kept: str) -> None:
        """Do what the signal would have done when it came.

        Args:
            kept: What a KeyboardInterrupt says.

        Raises:
            KeyboardInterrupt: If that is what the handler raises; another handler may let the run go on.
        """
        number, self.signal_number = self.signal_number, None
        if number is None:
            return
        handler = self.handlers[number]
        if callable(handler):
            try:
                handler(number, None)
            except KeyboardInterrupt:
                raise KeyboardInterrupt(kept) from None
        else:
            signal.signal(number, handler)
            os.kill(os.getpid(), number)


@contextlib.contextmanager
def interruptions_put_off(note: Note | None = None) -> Iterator[Interruption]:
    """Remember the first Ctrl-C or SIGTERM instead of obeying it; the second one is obeyed at once.

    Does nothing outside the main thread, where Python takes no signals, nor for a signal that is ignored.

    Args:
        note: Told what the first one waits for.
    """
    interruption = Interruption()

    def remember(number: int, _frame: FrameType | None) -> None:
        if interruption.signal_number is not None:
            interruption.pass_on("the steps since the last checkpoint are lost")
        interruption.signal_number = number
        if note is not None:
            # Python refuses to print in the middle of its own printing.
            with contextlib.suppress(RuntimeError):
                note(_WAITING)

    if threading.current_thread() is threading.main_thread():
        for own in _SIGNALS:
            handler = signal.getsignal(own)
            if handler is not None and handler is not signal.SIG_IGN:
                interruption.handlers[own] = handler
                signal.signal(own, remember)
    try:
        yield interruption
    finally:
        for number, handler in interruption.handlers.items():
            signal.signal(number, handler)

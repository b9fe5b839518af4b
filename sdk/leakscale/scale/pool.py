"""Work for many workers of which any may die, handed back in the order in which it was given.

    pieces of work ─▶ a window of those in flight ─▶ results, in order

A worker takes one piece at a time. When it dies its piece goes to another one, before all others, and a new worker is
started in its place. The window bounds memory: no piece is taken from the source further ahead than that.

Knows nothing of Ray or of models; a `Crew` does.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Generic, Protocol, TypeVar

from leakscale.errors import UnavailableError

__all__ = ["Crew", "Died", "in_order"]

Work_contra = TypeVar("Work_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)
Work = TypeVar("Work")
Result = TypeVar("Result")

_PIECES_PER_WORKER: Final = 4
_WAIT_S: Final = 1.0


class Died(Exception):  # noqa: N818 - an outcome of a piece, caught here
    """The worker of a piece is gone, and the piece was not answered."""


class Crew(Protocol[Work_contra, Result_co]):
    """Workers, by number; a number is never used again."""

    @property
    def size(self) -> int:
        """Workers that are wanted."""

    def idle(self) -> Sequence[int]:
        """Return the workers that are ready and have nothing to do."""

    def give(self, worker: int, work: Work_contra) -> None:
        """Give an idle worker a piece; it is busy until `finished` names it."""

    def finished(self, *, timeout_s: float) -> Sequence[int]:
        """Return busy workers that have ended; waits until there is news of any worker, or the time is over."""

    def take(self, worker: int) -> Result_co:
        """Return what a finished worker answered; it is idle again.

        Raises:
            Died: If the worker is gone; the crew starts another.
        """

    def release(self, worker: int) -> None:
        """Forget what a busy worker was given."""


class _Pieces(Generic[Work, Result]):
    """Pieces of work in flight, and results that wait for an earlier one."""

    def __init__(self, source: Iterable[Work], window: int) -> None:
        self._source, self._window = iter(source), window
        self._lost: deque[tuple[int, Work]] = deque()
        self._done: dict[int, Result] = {}
        self._taken = self._next = 0
        self._is_exhausted = False

    @property
    def is_over(self) -> bool:
        return self._is_exhausted and self._next == self._taken

    def take(self) -> tuple[int, Work] | None:
        """Return the next piece to hand out: a lost one first, none where the window is full or the source empty."""
        if self._lost:
            return self._lost.popleft()
        if self._is_exhausted or self._taken - self._next >= self._window:
            return None
        for work in self._source:
            self._taken += 1
            return self._taken - 1, work
        self._is_exhausted = True
        return None

    def lose(self, place: int, work: Work) -> None:
        self._lost.append((place, work))

    def finish(self, place: int, result: Result) -> None:
        self._done[place] = result

    def due(self) -> Iterator[Result]:
        while self._next in self._done:
            self._next += 1
            yield self._done.pop(self._next - 1)


def in_order(source: Iterable[Work], crew: Crew[Work, Result], *, patience_s: float) -> Iterator[Result]:
    """Answer every piece of work, and return the results in the order of the source.

    Args:
        source: Taken as it is needed.
        crew: Who answers.
        patience_s: Longest time without any worker: starting the first ones counts.

    Raises:
        UnavailableError: If there is no worker for so long.
    """
    pieces: _Pieces[Work, Result] = _Pieces(source, crew.size * _PIECES_PER_WORKER)
    busy: dict[int, tuple[int, Work]] = {}
    seen_at = time.monotonic()
    try:
        while not pieces.is_over:
            for worker in crew.idle():
                piece = pieces.take()
                if piece is None:
                    break
                busy[worker] = piece
                crew.give(worker, piece[1])
            if pieces.is_over:  # the source was empty
                return
            for worker in crew.finished(timeout_s=_WAIT_S):
                place, work = busy.pop(worker)
                try:
                    pieces.finish(place, crew.take(worker))
                except Died:
                    pieces.lose(place, work)
            yield from pieces.due()
            if busy or crew.idle():
                seen_at = time.monotonic()
            elif time.monotonic() - seen_at > patience_s:
                raise UnavailableError(
                    f"no worker for {patience_s:.0f} s; see that the cluster has room for one, and run the same "
                    "command again: it goes on"
                )
    finally:
        for worker in busy:
            crew.release(worker)

"""Work that comes back in order, whoever dies on the way."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakscale.errors import UnavailableError
from leakscale.scale.pool import Died, in_order


class FakeCrew:
    """Workers that square numbers, end in any order, and die as they are told."""

    def __init__(
        self, size: int, *, order: Sequence[int] = (), deaths: Sequence[bool] = (), starts: int = 1_000
    ) -> None:
        self.size = size
        self._order, self._deaths = deque(order), deque(deaths)
        self._starts_left = starts
        self._next = 0
        self._idle: list[int] = []
        self.busy: dict[int, int] = {}
        self.held_max = self.lost_count = 0
        self.released: list[int] = []
        for _ in range(size):
            self._start()

    def _start(self) -> None:
        if self._starts_left:
            self._starts_left -= 1
            self._idle.append(self._next)
            self._next += 1

    def idle(self) -> list[int]:
        return list(self._idle)

    def give(self, worker: int, work: int) -> None:
        self._idle.remove(worker)
        self.busy[worker] = work
        self.held_max = max(self.held_max, len(self.busy))

    def finished(self, *, timeout_s: float) -> list[int]:
        if not self.busy:
            return []
        workers = sorted(self.busy)
        return [workers[(self._order.popleft() if self._order else 0) % len(workers)]]

    def take(self, worker: int) -> int:
        work = self.busy.pop(worker)
        if self._deaths and self._deaths.popleft():
            self.lost_count += 1
            self._start()
            raise Died("told to")
        self._idle.append(worker)
        return work * work

    def release(self, worker: int) -> None:
        self.released.append(worker)
        self.busy.pop(worker, None)
        self._idle.append(worker)


@given(
    count=st.integers(0, 40),
    size=st.integers(1, 5),
    order=st.lists(st.integers(0, 9), max_size=80),
    deaths=st.lists(st.booleans(), max_size=30),
)
def test_results_come_in_the_order_of_the_work(count: int, size: int, order: list[int], deaths: list[bool]) -> None:
    """Files would otherwise differ from one run to the next; and nothing is answered twice or never."""
    crew = FakeCrew(size, order=order, deaths=deaths)

    assert list(in_order(range(count), crew, patience_s=0.0)) == [number * number for number in range(count)]
    assert crew.busy == {}


def test_work_is_taken_no_further_ahead_than_the_window() -> None:
    """A bank of a quarter of a million cases must not wait in memory for one slow worker."""
    taken: list[int] = []

    def source() -> Iterator[int]:
        for number in range(1_000):
            taken.append(number)
            yield number

    # The second worker's piece ends last of all those that the window lets in.
    results = in_order(source(), FakeCrew(2, order=[1] * 500), patience_s=0.0)

    assert next(results) == 0
    assert len(taken) <= 2 * 4 + 1


def test_the_first_lost_piece_is_the_first_to_be_asked_again() -> None:
    """Every result behind it waits for it."""
    crew = FakeCrew(1, deaths=[True, True, False])

    assert list(in_order(range(3), crew, patience_s=0.0)) == [0, 1, 4]
    assert crew.lost_count == 2


def test_a_crew_that_stays_empty_is_given_up() -> None:
    """Waiting for ever for a node that is not there helps nobody."""
    crew = FakeCrew(1, deaths=[True], starts=1)

    with pytest.raises(UnavailableError, match="no worker for 0 s"):
        list(in_order(range(3), crew, patience_s=0.0))


def test_whoever_stops_early_leaves_no_worker_busy() -> None:
    """After Ctrl-C, or a preflight that took one answer, the workers are free for what comes next."""
    crew = FakeCrew(3)
    results = in_order(range(100), crew, patience_s=0.0)

    next(results)
    results.close()  # type: ignore[attr-defined]

    assert crew.busy == {}
    assert crew.released
    assert sorted(crew.idle()) == [0, 1, 2]

"""Ask for many cases at a time, and report attempts as they end.

Cases are taken from their source only as far ahead as a window allows, so that the results which wait for an earlier
case stay few whatever the length of the bank.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Event
from typing import Final

from leakscale.inference.attempts import Attempt
from leakscale.inference.cases import Case

__all__ = ["in_parallel"]

_WINDOW_FACTOR: Final = 8
"""Cases that may be ahead of the oldest unfinished one, in multiples of the concurrency."""

Ask = Callable[[Case, Event], Iterator[Attempt]]


@dataclass(frozen=True, slots=True)
class _End:
    """A worker is through with a case."""

    place: int
    error: BaseException | None


def in_parallel(ask: Ask, cases: Iterable[Case], *, concurrency: int) -> Iterator[Attempt]:
    """Run `ask` on every case in threads; return the attempts in the order in which they end.

    When one case raises, no other is begun, the attempts that were under way are reported, and then it is raised here.

    Args:
        ask: Reports the attempts of one case until one is terminal. It gives up soon after the event is set.
        cases: Taken as they are needed.
        concurrency: Threads.
    """
    events: SimpleQueue[Attempt | _End] = SimpleQueue()
    stop = Event()
    source = enumerate(cases)
    under_way: set[int] = set()
    error: BaseException | None = None

    def work(place: int, case: Case) -> None:
        failure: BaseException | None = None
        try:
            for attempt in ask(case, stop):
                events.put(attempt)
        except BaseException as raised:
            failure = raised
        events.put(_End(place, failure))

    with ThreadPoolExecutor(max_workers=concurrency, thread_name_prefix="leakscale-ask") as pool:
        try:
            begun, is_exhausted = 0, False
            while True:
                while not (stop.is_set() or is_exhausted) and _has_room(under_way, begun, concurrency):
                    place, case = next(source, (-1, None))
                    if case is None:
                        is_exhausted = True
                        break
                    under_way.add(place)
                    begun = place + 1
                    pool.submit(work, place, case)
                if not under_way:
                    break
                event = events.get()
                if isinstance(event, Attempt):
                    yield event
                    continue
                under_way.remove(event.place)
                if event.error is not None:
                    error = error or event.error
                    stop.set()
        finally:
            stop.set()  # whoever reads may have left
    if error is not None:
        raise error


def _has_room(under_way: set[int], begun: int, concurrency: int) -> bool:
    if not under_way:
        return True
    return len(under_way) < concurrency and begun - min(under_way) < _WINDOW_FACTOR * concurrency

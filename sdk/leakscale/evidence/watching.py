"""A bar for each long step of a verification."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Final, Protocol

from leakscale.evidence.verifying import Advance

__all__ = ["showing_steps"]


class _Bar(Protocol):
    def update(self, done: int, total: int | None = None) -> None: ...


class _Show(Protocol):
    def __call__(self, task: str, *, total: int | None, unit: str = "") -> AbstractContextManager[_Bar]: ...


_UNITS: Final = {"manifest": "bytes", "inference chain": "results"}
"""What is counted in the steps that tell how far they are."""


@contextmanager
def showing_steps(progress: _Show) -> Iterator[Advance]:
    """Open a bar at each step and close it at the next.

    Args:
        progress: Shows a bar for as long as its block runs; a console's.
    """
    with ExitStack() as stack:
        open_bar: list[tuple[str, _Bar, Callable[[], None]]] = []

        def advance(name: str, count: int) -> None:
            if open_bar and open_bar[0][0] == name:
                open_bar[0][1].update(count)
                return
            if open_bar:
                open_bar.pop()[2]()
            inner = stack.enter_context(ExitStack())
            bar = inner.enter_context(progress(f"verify {name}", total=None, unit=_UNITS.get(name, "checks")))
            open_bar.append((name, bar, inner.close))

        yield advance

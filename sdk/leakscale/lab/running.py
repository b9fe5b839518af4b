"""Measures the cells of a laboratory on several cores."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

from leakscale.lab.cells import Cell, Row

__all__ = ["Measure", "measured_rows", "usable_cores"]

Measure = Callable[[Cell, int], dict[str, Any]]
"""Measures one cell under a root seed. A function of a module, so that another process can find it by name."""


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def measured_rows(cells: Sequence[Cell], measure: Measure, *, seed: int, workers: int) -> Iterator[Row]:
    """Yield a row for each cell, in the order of completion, heavy cells first.

    Args:
        cells: Cells with distinct names.
        measure: What is done in each; its exceptions end the run.
        seed: Root seed of all cells.
        workers: Processes; 1 measures in this one.
    """
    heavy_first = sorted(cells, key=lambda cell: -cell.weight)
    if workers == 1 or len(cells) <= 1:
        for cell in heavy_first:
            yield Row(cell.name, cell.settings, measure(cell, seed))
        return
    # The pool queues its work through pipes that its workers hold open themselves, so they would wait forever for a
    # parent that was killed. A fork would copy the locks of whatever threads run here.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(cells)), mp_context=context, initializer=_live_with_the_parent) as pool:
        futures = {pool.submit(measure, cell, seed): cell for cell in heavy_first}
        try:
            for future in as_completed(futures):
                cell = futures[future]
                yield Row(cell.name, cell.settings, future.result())
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _live_with_the_parent() -> None:
    """End a worker with its parent, and let Ctrl-C end it without a word; the parent says what there is to say."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(parent: Any) -> None:
    """Wait for the end of the parent, however it ended, and end this process at once, mid-cell if need be."""
    parent.join()
    os._exit(1)

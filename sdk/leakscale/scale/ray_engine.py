"""Engine `ray`: a bank's questions asked of one model a worker, on however many nodes a Ray cluster has.

Its identity and mode are those of its workers' engine, which every worker must share to the letter: so its files are
those of a local run, byte for byte, and either may go on where the other stopped. Model and adapter must be found on
every node under the same name: on a shared file system, or as a Hugging Face id.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from leakscale.errors import UnavailableError
from leakscale.inference.attempts import Attempt
from leakscale.inference.cases import Case, Question
from leakscale.inference.engines.preflight import PreflightReport, parse_options
from leakscale.scale.pool import in_order
from leakscale.scale.ray_cluster import join_cluster
from leakscale.scale.ray_crew import RayCrew, Task
from leakscale.scale.ray_options import RayOptions

__all__ = ["RayEngine", "open_cluster"]


class RayEngine:
    """A model on each of many workers."""

    def __init__(self, crew: RayCrew, options: RayOptions) -> None:
        """Wait for the first worker.

        Raises:
            UnavailableError: If none is ready in time.
        """
        self._crew, self._options = crew, options
        deadline = time.monotonic() + options.patience_s
        while crew.what is None:
            crew.finished(timeout_s=1)
            if time.monotonic() > deadline:
                raise UnavailableError(
                    f"no worker was ready after {options.patience_s:.0f} s; see that one node has "
                    f"{options.cpu_count:g} CPUs and {options.gpu_count:g} GPUs free"
                )
        self.identity: Mapping[str, Any] = crew.what.identity
        self.mode = crew.what.mode

    @property
    def worker_count(self) -> int:
        """Workers that have opened their model."""
        return self._crew.open_count

    @property
    def lost_count(self) -> int:
        """Workers that died while they were asked something; another one was asked it then."""
        return self._crew.lost_count

    def preflight(self, questions: Sequence[Question]) -> PreflightReport:
        """Try one worker: every other one has its identity."""
        report: PreflightReport = next(self._ask([Task(questions=questions)]))
        return report

    def answer(self, cases: Iterable[Case]) -> Iterator[Attempt]:
        """Answer cases, some questions a task, and report attempts in the order of the tasks."""
        tasks = (Task(cases=piece) for piece in _pieces(cases, self._options.questions_per_task))
        for attempts in self._ask(tasks):
            yield from attempts

    def close(self) -> None:
        """End every worker; the cluster stays."""
        self._crew.close()

    def _ask(self, tasks: Iterable[Task]) -> Iterator[Any]:
        return in_order(tasks, self._crew, patience_s=self._options.patience_s)


def open_cluster(*, model: str | Path, adapter: Path | None, options: Mapping[str, Any]) -> RayEngine:
    """Join a cluster, or start one on this machine, and start its workers.

    Raises:
        InvalidRequestError: If there is no such option.
        UnavailableError: If the cluster cannot be reached, or has no room for a worker.
        LeakScaleError: What opening the engine raises on a worker.
    """
    parsed = parse_options(RayOptions, options)
    join_cluster(parsed.address)
    place = Path(model).absolute() if Path(model).exists() else model
    worker = (parsed.engine, str(place), None if adapter is None else adapter.absolute(), dict(parsed.options))
    crew = RayCrew(worker, parsed)
    try:
        return RayEngine(crew, parsed)
    except BaseException:
        crew.close()
        raise


def _pieces(cases: Iterable[Case], question_count: int) -> Iterator[list[Case]]:
    """Split cases into pieces of so many questions each, never inside a question."""
    piece: list[Case] = []
    seen = 0
    for case in cases:
        if piece and case.question.index != piece[-1].question.index:
            seen += 1
            if seen == question_count:
                yield piece
                piece, seen = [], 0
        piece.append(case)
    if piece:
        yield piece

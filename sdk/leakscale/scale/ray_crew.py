"""Workers on a Ray cluster: each one an actor with a model of its own."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import ray
from ray.exceptions import RayActorError, RayTaskError

from leakscale.errors import ConflictError, LeakScaleError, UnavailableError
from leakscale.inference.attempts import Mode
from leakscale.inference.cases import Case, Question
from leakscale.inference.engines import Engine, open_engine
from leakscale.scale.pool import Died
from leakscale.scale.ray_cluster import first_line, room_for
from leakscale.scale.ray_options import RayOptions

__all__ = ["RayCrew", "Task", "What"]

_FAILED_STARTS_MAX: Final = 3
"""Workers in a row that die while they open the model, before that is the cluster's answer."""


@dataclass(frozen=True, slots=True)
class What:
    """What decides the answers of a worker."""

    identity: dict[str, Any]
    mode: Mode


class _Worker:
    """An engine in a process of its own, on some node."""

    def __init__(self, name: str, model: str, adapter: Path | None, options: Mapping[str, Any]) -> None:
        self._arguments = (name, model, adapter, options)
        self._engine: Engine | None = None

    def open(self) -> What:
        """Load the model. Not in the constructor: what fails there reaches nobody as itself."""
        name, model, adapter, options = self._arguments
        self._engine = open_engine(name, model=model, adapter=adapter, options=options)
        return What(dict(self._engine.identity), self._engine.mode)

    def ask(self, task: Task) -> Any:
        """Try the engine, or answer some cases."""
        assert self._engine is not None  # noqa: S101 - a worker is asked once it is open
        if task.is_probe:
            return self._engine.preflight(task.questions)
        return list(self._engine.answer(task.cases))


@dataclass(frozen=True, slots=True)
class Task:
    """What a worker is asked: a preflight on questions, or the answers to cases."""

    questions: Sequence[Question] = ()
    cases: Sequence[Case] = ()

    @property
    def is_probe(self) -> bool:
        """Tell which of the two it is."""
        return bool(self.questions)


class RayCrew:
    """Workers as Ray actors; see `leakscale.scale.pool.Crew`."""

    def __init__(self, worker: tuple[str, str, Path | None, dict[str, Any]], options: RayOptions) -> None:
        self._worker = worker
        self._class = ray.remote(num_cpus=options.cpu_count, num_gpus=options.gpu_count, max_restarts=0)(_Worker)
        self.size = options.worker_count or room_for(options)
        self.what: What | None = None
        """Of the first worker that became ready."""
        self._actors: dict[int, Any] = {}
        self._starting: dict[Any, int] = {}
        self._idle: deque[int] = deque()
        self._asked: dict[Any, int] = {}
        self._ended: dict[int, Any] = {}
        self._numbers = itertools.count()
        self._failed_start_count = 0
        self.lost_count = 0
        """Workers that died while they were asked something."""
        for _ in range(self.size):
            self._start()

    @property
    def open_count(self) -> int:
        """Workers that have a model and are not known to be dead."""
        return len(self._actors) - len(self._starting)

    def idle(self) -> list[int]:
        """Return the workers that are ready and have nothing to do."""
        return list(self._idle)

    def give(self, worker: int, work: Task) -> None:
        """Ask a worker; it answers in its own time."""
        self._idle.remove(worker)
        self._asked[self._actors[worker].ask.remote(work)] = worker

    def finished(self, *, timeout_s: float) -> list[int]:
        """Return the workers that have answered or died, and take in those that have opened their model.

        Raises:
            ConflictError: If a worker's model, adapter or library differs from the first one's.
            LeakScaleError: What opening the engine raised there.
            UnavailableError: If workers keep dying while they start.
        """
        waited = [*self._asked, *self._starting]
        if not waited:
            return []
        ray.wait(waited, num_returns=1, timeout=timeout_s)
        # All that are there: taken one by one, a worker at the end of the list could be left waiting for ever.
        done, _ = ray.wait(waited, num_returns=len(waited), timeout=0)
        for ref in done:
            if ref in self._starting:
                self._greet(ref)
        ended = {self._asked.pop(ref): ref for ref in done if ref in self._asked}
        self._ended |= ended
        return list(ended)

    def take(self, worker: int) -> Any:
        """Return what a worker answered.

        Raises:
            Died: If it is gone.
            LeakScaleError: What the engine raised there.
        """
        try:
            answered = _get(self._ended.pop(worker))
        except RayActorError as error:
            del self._actors[worker]
            self.lost_count += 1
            self._start()
            raise Died(first_line(error)) from error
        self._idle.append(worker)
        return answered

    def release(self, worker: int) -> None:
        """Forget what a worker was asked; what it is asked next waits behind that."""
        for ref in [ref for ref, busy in self._asked.items() if busy == worker]:
            del self._asked[ref]
        self._ended.pop(worker, None)
        self._idle.append(worker)

    def close(self) -> None:
        """End every worker."""
        for actor in self._actors.values():
            ray.kill(actor)
        self._actors.clear()
        self._idle.clear()
        self._starting.clear()

    def _start(self) -> None:
        number = next(self._numbers)
        self._actors[number] = self._class.remote(*self._worker)
        self._starting[self._actors[number].open.remote()] = number

    def _greet(self, ref: Any) -> None:
        number = self._starting.pop(ref)
        try:
            what: What = _get(ref)
        except RayActorError as error:
            del self._actors[number]
            self._failed_start_count += 1
            if self._failed_start_count >= _FAILED_STARTS_MAX:
                raise UnavailableError(
                    f"{self._failed_start_count} workers in a row died while they opened the model, the last with: "
                    f"{first_line(error)}; see that a node has the memory for it"
                ) from error
            self._start()
            return
        self._failed_start_count = 0
        self.what = self.what or what
        _check_same(self.what, what)
        self._idle.append(number)


def _check_same(first: What, other: What) -> None:
    if first.mode is not other.mode:
        raise ConflictError(f"a worker answers in mode {other.mode}, the first one in {first.mode}")
    differing = [name for name, value in first.identity.items() if other.identity.get(name) != value]
    if differing:
        raise ConflictError(
            f"a worker's {differing[0]} is {other.identity.get(differing[0])}, the first one's "
            f"{first.identity[differing[0]]}; give every node the same model, adapter and libraries"
        )


def _get(ref: Any) -> Any:
    """Return what a task returned, or raise what it raised, as itself."""
    try:
        return ray.get(ref)
    except RayTaskError as error:
        cause = error.cause
        raise cause if isinstance(cause, LeakScaleError) else error from error

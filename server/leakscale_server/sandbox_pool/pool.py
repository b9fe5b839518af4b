"""Lease warm workers to jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType

    from leakscale_server.sandbox_pool.contract import Backend, BackendIdentity, Job, JobResult

__all__ = ["SandboxPool"]


class SandboxPool:
    """Warm workers, leased one job at a time. Safe to use from many threads."""

    def __init__(self, backend: Backend, *, lane_count: int = 2) -> None:
        self.lane_count = lane_count
        self._backend = backend

    @property
    def identity(self) -> BackendIdentity:
        """Return what a certificate freezes about this sandbox."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._backend.close()

    def run(self, job: Job, *, lane: int | None = None) -> JobResult:
        """Run every program of a job on every fixture; see the pool's contract."""
        raise NotImplementedError

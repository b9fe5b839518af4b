"""Run the bombs, and refuse to go on when one goes off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from leakscale_server.sandbox_check.bombs import BOMBS, HONEST, Bomb
from leakscale_server.sandbox_pool import BackendUnavailable, SandboxFault

if TYPE_CHECKING:
    from leakscale_server.sandbox_pool import BackendIdentity, Job, JobResult

__all__ = ["Finding", "check_sandbox", "require_limits"]

_LANE: Final = 0


class Runner(Protocol):
    """The part of a pool that a check needs."""

    @property
    def identity(self) -> BackendIdentity:
        """See `SandboxPool.identity`."""

    def run(self, job: Job, *, lane: int | None = None) -> JobResult:
        """See `SandboxPool.run`."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of one bomb."""

    limit: str
    attempt: str
    ended: str
    """Verdict and detail, or the sandbox's failure."""
    wall_time_s: float
    holds: bool
    """Whether the limit bit; of an honest program, whether it gave the right value."""


def check_sandbox(pool: Runner) -> Iterator[Finding]:
    """Run every bomb that this backend promises to contain, with honest programs before and after.

    Yields:
        One finding a bomb, as soon as there is one. A sandbox that fails is a finding too.
    """
    backend = pool.identity.backend
    bombs = [bomb for bomb in BOMBS if bomb.is_promised_by(backend)]
    return (_try(pool, bomb) for bomb in (*HONEST, *bombs, *HONEST))


def require_limits(pool: Runner) -> None:
    """Refuse a sandbox in which a limit does not bite; the quick part of `check_sandbox`.

    Does *not* guard against a limit on CPU time that is missing: that takes a second, and wall-clock time ends the
    program all the same.

    Raises:
        BackendUnavailable: With the name of the first limit that does not bite.
    """
    backend = pool.identity.backend
    quick = [bomb for bomb in BOMBS if bomb.is_quick and bomb.is_promised_by(backend)]
    failed = next(_failures(_try(pool, bomb) for bomb in (*HONEST, *quick, *HONEST)), None)
    if failed is not None:
        raise BackendUnavailable(
            f"the limit {failed.limit!r} does not bite under {backend}: to {failed.attempt} ended as {failed.ended}",
            "run `leakscale-server sandbox check` for the whole table, or choose another backend",
        )


def _failures(findings: Iterable[Finding]) -> Iterator[Finding]:
    return (finding for finding in findings if not finding.holds)


def _try(pool: Runner, bomb: Bomb) -> Finding:
    try:
        ((execution,),) = pool.run(bomb.job, lane=_LANE)
    except SandboxFault as fault:
        return Finding(bomb.limit, bomb.attempt, f"failure of the sandbox: {fault.reason}", 0.0, holds=False)
    ended = f"{execution.verdict}: {execution.detail}" if execution.detail else str(execution.verdict)
    return Finding(bomb.limit, bomb.attempt, ended, execution.wall_time_s, holds=bomb.must_end(execution))

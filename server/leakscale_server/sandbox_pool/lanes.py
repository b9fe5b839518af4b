"""What sets one lane apart from another, and how a lane fails."""

from __future__ import annotations

import select
import time
from dataclasses import dataclass

__all__ = ["LaneError", "LaneSettings", "seconds_left", "wait_for"]


class LaneError(Exception):
    """A lane broke: it died, stalled, or spoke out of turn. It is destroyed; the job is tried in another."""


@dataclass(frozen=True, slots=True)
class LaneSettings:
    """Two passes of one job on lanes with other settings must give the same bytes, or the job is nondeterministic."""

    hash_seed: int
    is_second: bool
    """Whether rows come in other orders and clocks show another moment."""

    @classmethod
    def of(cls, lane: int) -> LaneSettings:
        """Return the settings of a lane, the same in every run: a verdict must not depend on chance."""
        return cls(hash_seed=lane + 1, is_second=lane % 2 == 1)


def seconds_left(deadline: float) -> float:
    """Return the seconds until a deadline of `time.monotonic()`.

    Raises:
        LaneError: If it passed.
    """
    left = deadline - time.monotonic()
    if left <= 0:
        raise LaneError("the deadline passed")
    return left


def wait_for(descriptor: int, event: int, *, seconds: float) -> bool:
    """Wait until a descriptor is ready; unlike `select`, this works above 1,023 open descriptors.

    Args:
        descriptor: Pipe or socket.
        event: `select.POLLIN` or `select.POLLOUT`.
        seconds: How long; 0 looks once.

    Returns:
        Whether it is ready, or broken, which reading or writing will tell.
    """
    poll = select.poll()
    poll.register(descriptor, event)
    return bool(poll.poll(seconds * 1000))

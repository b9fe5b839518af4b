"""What sets one lane apart from another, and how a lane fails."""

from __future__ import annotations

import select
import time
from dataclasses import dataclass

__all__ = ["LANE_KINDS", "LaneError", "LaneSettings", "seconds_left", "wait_for"]

LANE_KINDS = 13
"""Kinds of lanes: those of the first pass, those of the second, and eleven more in which chance falls otherwise.

Two texts keep their order in a set under another hash seed every other time, a little more often in the order in which
they were put in, since some fall on one place: under thirteen seeds all alike with a chance of 6 in 10,000."""


class LaneError(Exception):
    """A lane broke: it died, stalled, or spoke out of turn. It is destroyed; the job is tried in another."""


@dataclass(frozen=True, slots=True)
class LaneSettings:
    """Two passes of one job on lanes with other settings must give the same bytes, or the job is nondeterministic."""

    hash_seed: int
    is_second: bool
    """Whether rows come in other orders, clocks show another moment, and surroundings are others."""
    shift: int
    """How far the worker's heap, and what else only counts, is moved; another number in each kind."""

    @property
    def is_rare(self) -> bool:
        """Return whether few programs need such a lane."""
        return self.hash_seed > 2

    @classmethod
    def of(cls, kind: int) -> LaneSettings:
        """Return the settings of a kind of lane, the same in every run: a verdict must not depend on chance.

        Args:
            kind: 0 for the first pass, 1 for the second; above, up to `LANE_KINDS`, in turn like these two but for hash
                seed and shift.

        Does *not* guard against an author who searches for texts that all these seeds leave in order.
        """
        if not 0 <= kind < LANE_KINDS:
            raise ValueError(f"kind of lane must be 0 to {LANE_KINDS - 1}, not {kind}")
        # The first two differ by an odd number, so that of two neighbors in memory one is even and the other odd.
        return cls(hash_seed=kind + 1, is_second=kind % 2 == 1, shift=7 * kind)


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

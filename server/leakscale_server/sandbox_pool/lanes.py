"""What sets one lane apart from another, and how a lane fails."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LaneError", "LaneSettings"]


class LaneError(Exception):
    """A lane broke: it died, stalled, or spoke out of turn. It is destroyed; the job is tried in another."""


@dataclass(frozen=True, slots=True)
class LaneSettings:
    """Two passes of one job on lanes with other settings must give the same bytes, or the job is nondeterministic."""

    hash_seed: int
    is_reversed: bool

    @classmethod
    def of(cls, lane: int) -> LaneSettings:
        """Return the settings of a lane, the same in every run: a verdict must not depend on chance."""
        return cls(hash_seed=lane + 1, is_reversed=lane % 2 == 1)

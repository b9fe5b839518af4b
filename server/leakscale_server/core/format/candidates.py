"""Where the four values of a family come from: an explicit pool, or a range with a minimum distance."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from leakscale_server.core.format.grids import Amount, DateGrid, DecimalGrid, Integer, IntegerGrid, Strict
from leakscale_server.core.literals import Value, read_json
from leakscale_server.core.streams import Stream

__all__ = ["CANDIDATE_COUNT", "CandidateRange", "Candidates", "draw_values", "separable_count"]

CANDIDATE_COUNT = 4
POOL_MAX = 256


class IntegerRange(IntegerGrid):
    """Integers of which any two candidates are at least `distance` apart."""

    distance: Annotated[int, Field(ge=1, le=10**9)]

    @property
    def gap(self) -> int:
        """Return the distance in steps, rounded up."""
        return -(-self.distance // self.step)


class DecimalRange(DecimalGrid):
    """Decimals of which any two candidates are at least `distance` apart."""

    distance: Annotated[Amount, Field(gt=0)]

    @property
    def gap(self) -> int:
        """Return the distance in steps, rounded up."""
        return int(-(-self.distance // self.step))


class DateRange(DateGrid):
    """Dates of which any two candidates are at least `distance` days apart."""

    distance: Annotated[int, Field(ge=1, le=36600)]

    @property
    def gap(self) -> int:
        """Return the distance in steps, rounded up."""
        return -(-self.distance // self.step)


CandidateRange: TypeAlias = IntegerRange | DecimalRange | DateRange

Pool = Field(default=None, min_length=CANDIDATE_COUNT, max_length=POOL_MAX)
CandidateText = Annotated[str, Field(min_length=1, max_length=32)]
JsonText = Annotated[str, Field(min_length=1, max_length=34)]


class IntegerCandidates(Strict):
    """Four integers."""

    type: Literal["integer"]
    pool: Annotated[tuple[Integer, ...] | None, Pool] = None
    range: IntegerRange | None = None

    @property
    def ranked(self) -> tuple[Value, ...]:
        """Return the pool in ascending order; nothing if there is a range."""
        return tuple(sorted(self.pool or ()))


class DecimalCandidates(Strict):
    """Four decimals; a JSON number in an answer."""

    type: Literal["decimal"]
    pool: Annotated[tuple[Amount, ...] | None, Pool] = None
    range: DecimalRange | None = None

    @property
    def ranked(self) -> tuple[Value, ...]:
        """Return the pool in ascending order; nothing if there is a range."""
        return tuple(sorted(self.pool or ()))


class StringCandidates(Strict):
    """Four strings out of a pool."""

    type: Literal["string"]
    pool: Annotated[tuple[CandidateText, ...], Pool]

    @property
    def range(self) -> None:
        """Return nothing: strings have no distance."""
        return

    @property
    def ranked(self) -> tuple[Value, ...]:
        """Return the pool in ascending order."""
        return tuple(sorted(self.pool))


class DateCandidates(Strict):
    """Four dates; an ISO string in an answer."""

    type: Literal["date"]
    pool: Annotated[tuple[date, ...] | None, Pool] = None
    range: DateRange | None = None

    @property
    def ranked(self) -> tuple[Value, ...]:
        """Return the pool in ascending order; nothing if there is a range."""
        return tuple(sorted(self.pool or ()))


class JsonCandidates(Strict):
    """Four of a pool that mixes booleans, null, numbers and strings."""

    type: Literal["json"]
    pool: Annotated[tuple[JsonText, ...], Pool]
    """JSON texts in rank order: no other order holds between types."""

    @property
    def range(self) -> None:
        """Return nothing: values of several types have no distance."""
        return

    @property
    def ranked(self) -> tuple[Value, ...]:
        """Return the values in the order in which they are written."""
        return tuple(map(read_json, self.pool))


Candidates = Annotated[
    IntegerCandidates | DecimalCandidates | StringCandidates | DateCandidates | JsonCandidates,
    Field(discriminator="type"),
]


def separable_count(candidates: CandidateRange) -> int:
    """Return how many values a range can hold at its minimum distance."""
    return (candidates.count - 1) // candidates.gap + 1


def draw_values(candidates: Candidates, stream: Stream) -> list[Value]:
    """Draw four distinct values in rank order; every admissible set of four is equally likely.

    A range is thinned first: of n steps, n - 3(g - 1) remain when three gaps of g steps lose all but one, and putting
    the lost ones back maps each choice of four to exactly one admissible choice.
    """
    span = candidates.range
    if span is None:
        ranked = candidates.ranked
        return [ranked[index] for index in stream.sample(len(ranked), CANDIDATE_COUNT)]
    slack = span.gap - 1
    free = stream.sample(span.count - slack * (CANDIDATE_COUNT - 1), CANDIDATE_COUNT)
    return [span.at(index + place * slack) for place, index in enumerate(free)]

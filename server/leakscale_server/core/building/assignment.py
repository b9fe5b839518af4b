"""Which place a family's correct value has, among the sorted candidates and on display.

Families of a cell (shape and condition) are taken in groups of four. A group shares one public permutation that says
at which display position each rank stands; the permutations of four groups are the rows of a Latin square. Inside a
group, the truth ranks are a private permutation of 0 to 3. So

- 16 families cover each (rank, position) pair exactly once, and 4 or 8 cover each rank and each position equally;
- whoever has all the public bytes still finds each candidate equally likely, because every rank is.

Source: LeakScale A and section 3.3 (truth rank and displayed position balanced in each cell).
"""

from __future__ import annotations

from typing import TypeAlias

from leakscale_server.core.format.candidates import CANDIDATE_COUNT
from leakscale_server.core.streams import Stream

__all__ = ["Permutation", "display_permutation", "identity_of_square", "truth_rank"]

Permutation: TypeAlias = tuple[int, int, int, int]

GROUP_SIZE = CANDIDATE_COUNT
SQUARE_SIZE = GROUP_SIZE * CANDIDATE_COUNT
"""Families that share a Latin square."""


def identity_of_square(ordinal: int) -> tuple[int, int]:
    """Return which square of its cell a family belongs to, and which row of it."""
    return ordinal // SQUARE_SIZE, ordinal % SQUARE_SIZE // GROUP_SIZE


def display_permutation(stream: Stream, *, row: int) -> Permutation:
    """Return the display position of each rank, in rank order.

    Args:
        stream: Public bytes that all families of one square share.
        row: Row of the square, 0 to 3.
    """
    rows, columns, symbols = (stream.shuffled(range(CANDIDATE_COUNT)) for _ in range(3))
    first, second, third, fourth = (symbols[(rows[row] + column) % CANDIDATE_COUNT] for column in columns)
    return first, second, third, fourth


def truth_rank(stream: Stream, *, ordinal: int) -> int:
    """Return the rank of a family's correct value.

    Args:
        stream: Private bytes that all families of one group share.
        ordinal: Which family of its cell.
    """
    return stream.shuffled(range(CANDIDATE_COUNT))[ordinal % GROUP_SIZE]
